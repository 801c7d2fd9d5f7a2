/** A line over time of bounded length, whose steps become longer as the run does. Pure. */
import { type AgentLine, type LineSteps, MOST_STEPS } from '../../report/run-report.js';

/** Sums of an agent at one time, and what it has registered then. */
export type LineValues = Readonly<Record<keyof AgentLine, number>>;

const SUMS = ['txBytes', 'rxBytes', 'transfers', 'errors'] as const;

export class RunLine {
  readonly #beginMs: number;
  #stepMs: number;
  /** By agent: its last values in each step; steps without a sample are empty. */
  readonly #values = new Map<number, (LineValues | undefined)[]>();
  #steps = 0;

  constructor(beginMs: number, stepMs: number) {
    this.#beginMs = beginMs;
    this.#stepMs = stepMs;
  }

  add(nowMs: number, agents: Iterable<readonly [id: number, values: LineValues]>): void {
    while (this.#stepOf(nowMs) >= MOST_STEPS) this.#double();
    const step = this.#stepOf(nowMs);
    this.#steps = Math.max(this.#steps, step + 1);
    for (const [id, values] of agents) {
      let own = this.#values.get(id);
      if (own === undefined) this.#values.set(id, (own = []));
      own[step] = values;
    }
  }

  get steps(): LineSteps {
    return { beginMs: this.#beginMs, stepMs: this.#stepMs, steps: this.#steps };
  }

  /** Returns the increases of each step. */
  of(id: number): AgentLine {
    const line = { txBytes: [], rxBytes: [], transfers: [], errors: [], memoryBytes: [] } as Record<
      keyof AgentLine,
      number[]
    >;
    const values = this.#values.get(id) ?? [];
    let last: LineValues = { txBytes: 0, rxBytes: 0, transfers: 0, errors: 0, memoryBytes: 0 };
    for (let step = 0; step < this.#steps; step++) {
      const now = values[step] ?? last;
      for (const name of SUMS) line[name].push(Math.max(0, now[name] - last[name]));
      line.memoryBytes.push(now.memoryBytes);
      last = now;
    }
    return line;
  }

  /** A clock that was set back gives the first step. */
  #stepOf(nowMs: number): number {
    return Math.max(0, Math.floor((nowMs - this.#beginMs) / this.#stepMs));
  }

  #double(): void {
    this.#stepMs *= 2;
    this.#steps = Math.ceil(this.#steps / 2);
    for (const [id, values] of this.#values) {
      this.#values.set(
        id,
        Array.from({ length: Math.ceil(values.length / 2) }, (_, i) => values[2 * i + 1] ?? values[2 * i]),
      );
    }
  }
}
