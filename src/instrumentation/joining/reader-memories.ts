/** The memories of all readers that were ever joined by one instrumentation. */
import type { AgentSnapshot } from '../../shm-bridge/types.js';
import { ReaderMemory } from './reader-memory.js';

export class ReaderMemories {
  readonly #byReader = new WeakMap<object, ReaderMemory>();
  #inUse: readonly ReaderMemory[] = [];

  /**
   * Returns the memories of these readers, in their order. When all readers are new, they continue the memories of the
   * readers before: no delta is reported again, and what was not reported yet is.
   */
  of(readers: readonly object[]): ReaderMemory[] {
    const memories = readers.map((reader) => this.#memoryOf(reader));
    const before = this.#inUse;
    if (!memories.some((memory) => before.includes(memory))) {
      memories.forEach((memory, i) => {
        const replaced = before.length === memories.length ? before[i] : before[0];
        if (replaced !== undefined) memory.takePlaceOf(replaced);
      });
    }
    this.#inUse = memories;
    return memories;
  }

  /** `agents`: of the last snapshot before the source is closed. */
  carry(agents: readonly AgentSnapshot[]): void {
    for (const memory of this.#inUse) memory.carry(agents);
  }

  #memoryOf(reader: object): ReaderMemory {
    let memory = this.#byReader.get(reader);
    if (memory === undefined) this.#byReader.set(reader, (memory = new ReaderMemory()));
    return memory;
  }
}
