/** Transfers of a run by slices of its time, of all agents together: what tells chance from a difference. Pure. */
import type { ExponentialTally } from '../ground/exponential.js';
import type { SizeClassTally, TimeBySize } from '../ground/tally.js';
import { classesSince, classesSum } from '../view/sizes/class-window.js';
import type { JsonBound } from '../view/sizes/direction-sizes.js';

/** Transfers of one size class in one slice. */
export interface SliceClass {
  /** Inclusive. */
  readonly upToBytes: JsonBound;
  readonly transfers: number;
  readonly bytes: number;
  /** Sum of the times, microseconds. */
  readonly totalUs: number;
  readonly timesUs: ExponentialTally;
}

export interface RunSlice {
  /** Milliseconds since the epoch. Slices follow each other without a gap. */
  readonly endMs: number;
  readonly tx: readonly SliceClass[];
  readonly rx: readonly SliceClass[];
}

/** Enough to see noise of any length, and few enough for a file that people keep. */
const MOST_SLICES = 32;

interface Slice {
  endMs: number;
  samples: number;
  transmit: readonly SizeClassTally[];
  receive: readonly SizeClassTally[];
}

interface SlicedAgent {
  readonly id: number;
  readonly timeBySize?: TimeBySize | undefined;
}

/** Takes samples at equal distances. Where there are too many, two neighbouring slices become one, again and again. */
export class RunSlices {
  #slices: Slice[] = [];
  #samples = 1;
  readonly #before = new Map<number, TimeBySize>();

  take(endMs: number, agents: readonly SlicedAgent[]): void {
    const grown = agents.flatMap(({ id, timeBySize }) => {
      if (timeBySize === undefined) return [];
      const before = this.#before.get(id);
      this.#before.set(id, timeBySize);
      return {
        transmit: classesSince(before?.transmit.classes, timeBySize.transmit.classes),
        receive: classesSince(before?.receive.classes, timeBySize.receive.classes),
      };
    });
    const added = joined(grown);
    const last = this.#slices.at(-1);
    if (last !== undefined && last.samples < this.#samples) {
      this.#slices[this.#slices.length - 1] = { endMs, samples: last.samples + 1, ...joined([last, added]) };
      return;
    }
    if (this.#slices.length === MOST_SLICES) this.#joinPairs();
    this.#slices.push({ endMs, samples: 1, ...added });
  }

  get all(): readonly RunSlice[] {
    return this.#slices.map(({ endMs, transmit, receive }) => ({
      endMs,
      tx: transmit.map(jsonOf),
      rx: receive.map(jsonOf),
    }));
  }

  #joinPairs(): void {
    const halves = this.#slices;
    this.#samples *= 2;
    this.#slices = Array.from({ length: MOST_SLICES / 2 }, (_, i) => {
      const [first, second] = [halves[2 * i]!, halves[2 * i + 1]!];
      return { endMs: second.endMs, samples: this.#samples, ...joined([first, second]) };
    });
  }
}

type Moved = Pick<Slice, 'transmit' | 'receive'>;

function joined(parts: readonly Moved[]): Moved {
  return {
    transmit: classesSum(parts.map(({ transmit }) => transmit)),
    receive: classesSum(parts.map(({ receive }) => receive)),
  };
}

function jsonOf({ upToBytes, count, bytes, duration }: SizeClassTally): SliceClass {
  const { counts, ...rest } = duration.exponential;
  return {
    upToBytes: upToBytes === Infinity ? null : upToBytes,
    transfers: count,
    bytes: Number(bytes),
    totalUs: Number(duration.sum),
    timesUs: { ...rest, counts: Array.from(counts) },
  };
}
