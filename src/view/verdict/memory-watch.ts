/** Finds agents whose registered memory only grows. Pure. */
import type { AgentId, AgentModel, MemoryGrowth } from '../model/agent-model.js';

/** The least memory of such a time is compared with that of the one before: a program may register and deregister meanwhile. */
const WINDOW_MS = 30_000;
/** An agent registers at its start, for some seconds, and then rests: two minutes of growth are none of that. */
const WINDOWS = 4;

interface Growing {
  beganMs: number;
  least: number;
  /** Of the window before. */
  leastBefore?: number;
  windows: number;
  sinceMs: number;
  fromBytes: number;
}

export class MemoryWatch<Id extends AgentId = AgentId> {
  #agents = new Map<Id, Growing>();
  #growth: ReadonlyMap<Id, MemoryGrowth> = new Map();

  /** Returns how much the memory of an agent has grown without a rest; undefined if it rests. */
  growth(id: Id): MemoryGrowth | undefined {
    return this.#growth.get(id);
  }

  /** Takes a sample of all agents. */
  observe(takenMs: number, agents: readonly AgentModel<Id>[]): void {
    const before = this.#agents;
    this.#agents = new Map();
    const found = new Map<Id, MemoryGrowth>();
    for (const { id, memoryBytes, life } of agents) {
      if (memoryBytes === undefined || life === 'dead') continue;
      const growing = before.get(id) ?? begun(takenMs, memoryBytes);
      note(growing, takenMs, memoryBytes);
      this.#agents.set(id, growing);
      const { windows, sinceMs, fromBytes } = growing;
      if (windows >= WINDOWS) found.set(id, { sinceMs, fromBytes, bytes: Math.max(0, memoryBytes - fromBytes) });
    }
    this.#growth = found;
  }
}

function begun(beganMs: number, memoryBytes: number): Growing {
  return { beganMs, least: memoryBytes, windows: 0, sinceMs: beganMs, fromBytes: memoryBytes };
}

function note(growing: Growing, takenMs: number, memoryBytes: number): void {
  if (takenMs - growing.beganMs < WINDOW_MS) {
    growing.least = Math.min(growing.least, memoryBytes);
    return;
  }
  const { least, leastBefore } = growing;
  const hasGrown = leastBefore === undefined || least > leastBefore;
  // Growth that ended within the window shows in its least, too.
  if (hasGrown && memoryBytes > least) growing.windows++;
  else Object.assign(growing, { windows: 0, sinceMs: growing.beganMs, fromBytes: least });
  Object.assign(growing, { beganMs: takenMs, leastBefore: least, least: memoryBytes });
}
