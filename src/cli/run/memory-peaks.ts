/** Most memory that each agent had registered at one time, from all its events about memory. Pure. */
import type { TypeBatch } from '../../shm-bridge/types.js';

export const REGISTERED = 4;
export const DEREGISTERED = 5;

export class MemoryPeaks {
  readonly #inUse = new Map<number, number>();
  readonly #peaks = new Map<number, number>();

  add({ length, agentIds, types, values }: TypeBatch): void {
    for (let i = 0; i < length; i++) {
      const before = this.#inUse.get(agentIds[i]!) ?? 0;
      const change = types[i] === REGISTERED ? values[i]! : -values[i]!;
      this.set(agentIds[i]!, Math.max(0, before + change));
    }
  }

  /** For an agent that restarted: its memory begins anew. */
  set(id: number, bytes: number): void {
    this.#inUse.set(id, bytes);
    if (bytes > (this.#peaks.get(id) ?? 0)) this.#peaks.set(id, bytes);
  }

  of(id: number): number {
    return this.#peaks.get(id) ?? 0;
  }
}
