/** Long work in slices of time, between which other work has its turn. */

/** Time after which other work gets a turn. */
const SLICE_MS = 2;

/** Work that yields where other work may have its turn. */
export type Steps<T> = Generator<undefined, T, undefined>;

export class TimeSlices {
  #endMs = performance.now() + SLICE_MS;

  /** Returns a promise if the slice is over: to be awaited before the work continues. */
  turn(): Promise<void> | undefined {
    return performance.now() < this.#endMs ? undefined : this.#next();
  }

  async #next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#endMs = performance.now() + SLICE_MS;
  }
}

/** Does the work in slices. */
export async function inSlices<T>(steps: Steps<T>, slices: TimeSlices): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const pause = slices.turn();
    if (pause !== undefined) await pause;
  }
}

/** Does the work without a turn for other work. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
