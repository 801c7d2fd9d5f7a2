/** A link whose open transfers share its rate equally. */
import type { Agenda } from './agenda.js';

interface Moving {
  /** Value of `#each` at which it is through. */
  readonly endsAt: number;
  readonly done: (atUs: number) => void;
}

export class Link {
  readonly #agenda: Agenda;
  readonly #bytesPerUs: (atUs: number) => number;
  /** Open transfers, the first to end last. */
  readonly #open: Moving[] = [];
  /** Bytes that a transfer which was open since the start would have moved. */
  #each = 0;
  #nowUs = 0;
  /** Rate since `#nowUs`. */
  #rate = 0;
  /** Number of the present plan: earlier ones in the agenda are void. */
  #plan = 0;

  constructor(agenda: Agenda, bytesPerUs: (atUs: number) => number) {
    this.#agenda = agenda;
    this.#bytesPerUs = bytesPerUs;
  }

  move(atUs: number, bytes: number, done: (atUs: number) => void): void {
    this.#advance(atUs);
    const moving = { endsAt: this.#each + bytes, done };
    const open = this.#open;
    let at = open.length;
    while (at > 0 && open[at - 1]!.endsAt < moving.endsAt) at--;
    open.splice(at, 0, moving);
    this.#planNext(atUs);
  }

  /** Takes the rate of this time for the open transfers. */
  changeRate(atUs: number): void {
    this.#advance(atUs);
    this.#planNext(atUs);
  }

  #advance(atUs: number): void {
    if (this.#open.length > 0) this.#each += ((atUs - this.#nowUs) * this.#rate) / this.#open.length;
    this.#nowUs = atUs;
  }

  #planNext(atUs: number): void {
    const next = this.#open.at(-1);
    if (next === undefined) return;
    this.#rate = this.#bytesPerUs(atUs);
    const plan = ++this.#plan;
    const endUs = atUs + (Math.max(0, next.endsAt - this.#each) * this.#open.length) / this.#rate;
    this.#agenda.add(endUs, (nowUs) => {
      if (plan !== this.#plan) return;
      this.#advance(nowUs);
      this.#open.pop();
      this.#planNext(nowUs);
      next.done(nowUs);
    });
  }
}
