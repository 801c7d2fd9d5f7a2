/** What happens in virtual time, the earliest first: a binary heap. */
interface Entry {
  readonly atUs: number;
  /** Of two entries at one time, the one that was added first happens first. */
  readonly order: number;
  readonly happen: (atUs: number) => void;
}

export class Agenda {
  readonly #heap: Entry[] = [];
  #added = 0;

  add(atUs: number, happen: (atUs: number) => void): void {
    const heap = this.#heap;
    const entry = { atUs, order: this.#added++, happen };
    let at = heap.push(entry) - 1;
    for (; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  /** Lets all happen up to a time, with what is added meanwhile. */
  runUntil(untilUs: number): void {
    while (this.#heap.length > 0 && this.#heap[0]!.atUs <= untilUs) {
      const { atUs, happen } = this.#takeFirst();
      happen(atUs);
    }
  }

  #takeFirst(): Entry {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    const length = heap.length;
    if (length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atUs < b.atUs || (a.atUs === b.atUs && a.order < b.order);
}
