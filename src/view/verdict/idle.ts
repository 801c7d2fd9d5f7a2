/** When an agent counts as idle. Pure; the live page uses this module, too. */

/** Without an event for this long, an agent is idle, unless it flushes more rarely. */
const IDLE_AFTER_MS = 3 * 60_000;
/** Flushes without an event after which it has none. */
const FLUSHES = 3;

/** `idleMs`: time since its last event. `flushIntervalMs`: time between two of its flushes, if it is known. */
export function isIdle(idleMs: number | undefined, flushIntervalMs?: number): boolean {
  return idleMs !== undefined && idleMs >= Math.max(IDLE_AFTER_MS, flushesWithoutEvent(flushIntervalMs));
}

/** Returns the time after which an agent that flushes rarely has missed some flushes. */
export function flushesWithoutEvent(flushIntervalMs = 0): number {
  return FLUSHES * flushIntervalMs;
}
