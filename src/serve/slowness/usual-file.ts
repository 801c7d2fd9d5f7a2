/** The file with what is usual: a restart of serve must not take slow transfers as usual, nor one of the agents. */
import { type KeptUsual, isKeptUsual } from '../../view/slowness/kept-usual.js';
import type { SlownessJudge } from '../../view/slowness/slowness-judge.js';
import { type DatedValue, KeptFile } from '../state/kept-file.js';
import type { StatePlace } from '../state/state-place.js';

type UsualOfDay = KeptUsual & DatedValue;

const FILE = { name: 'usual-times.json', version: 1 } as const;
/** 300 agents that each move twelve classes in both directions. */
const MOST_BYTES = 4 * 2 ** 20;
/** What is usual changes slowly. */
const WRITE_EVERY_MS = 5 * 60_000;

export class UsualFile {
  readonly #file: KeptFile<UsualOfDay>;
  readonly #judge: SlownessJudge;
  #writtenMs: number | undefined;

  constructor(place: StatePlace, judge: SlownessJudge) {
    const isValue = (json: object): json is UsualOfDay =>
      isKeptUsual(json) && typeof (json as UsualOfDay).keptMs === 'number';
    this.#file = new KeptFile({ ...FILE, mostBytes: MOST_BYTES, isValue, ...place });
    this.#judge = judge;
  }

  /** Restores at the first sample, and writes every few minutes. */
  take(takenMs: number): void {
    if (this.#writtenMs === undefined) {
      const kept = this.#file.read();
      if (kept !== undefined) this.#judge.restore(kept);
      this.#writtenMs = takenMs;
    } else if (Math.abs(takenMs - this.#writtenMs) >= WRITE_EVERY_MS) this.write(takenMs);
  }

  write(takenMs: number): void {
    this.#writtenMs = takenMs;
    const { curves, agents } = this.#judge.usual;
    if (agents.some(({ transmit, receive }) => transmit ?? receive))
      this.#file.write(rounded({ keptMs: takenMs, curves, agents }));
  }
}

function rounded({ keptMs, ...rest }: UsualOfDay): UsualOfDay {
  const short = (_: string, one: unknown): unknown => (typeof one === 'number' ? Math.round(one * 1000) / 1000 : one);
  return { keptMs, ...(JSON.parse(JSON.stringify(rest, short)) as KeptUsual) };
}
