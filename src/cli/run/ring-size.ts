/** Size of the rings of a run: so large that they lose nothing, and so small that many agents fit. Pure. */
import { bytesText, plural } from '../../ground/figures/figure.js';
import { intervalText } from '../../ground/figures/clock.js';

/** With it, and the flush interval below, an agent that wrote 2.5 million events per second lost none. */
const MOST_SLOTS = 2 ** 20;
/** NIXL's default. */
const LEAST_SLOTS = 4096;
const BYTES_PER_SLOT = 16;
/** Agents for which half of the free bytes must suffice. */
const AGENTS = 64;

/** Time between two flushes of an agent: what it staged since the last one is missing at its end. */
export const FLUSH_INTERVAL_MS = 10;

/** Returns a power of two. */
export function slotsFor(freeBytes: number): number {
  const fitting = freeBytes / 2 / AGENTS / BYTES_PER_SLOT;
  return 2 ** Math.floor(Math.log2(Math.min(MOST_SLOTS, Math.max(LEAST_SLOTS, fitting))));
}

/** Drains so often that even the smallest ring has room for several flushes. */
export function drainIntervalOf(slots: number): number {
  return slots >= 16 * LEAST_SLOTS ? 2 * FLUSH_INTERVAL_MS : FLUSH_INTERVAL_MS / 5;
}

/** `room`: where the free bytes are. */
export function ringSizeText(slots: number, room: string): string {
  const size = bytesText(slots * BYTES_PER_SLOT);
  return `rings have ${plural(slots, 'slot')} (${size}), chosen by ${room}; agents flush every ${intervalText(FLUSH_INTERVAL_MS)}`;
}
