/** The last minute of time by size: differences to what was counted before. Pure. */
import type { SizeClassTally, TimeBySize, TimesOfClass } from '../../ground/tally.js';
import { classesSince } from './class-window.js';

/** Shortest span of a full window. */
export const WINDOW_MS = 60_000;
/** Time between two counts that are kept: a window is longer by at most this. */
export const KEEP_MS = 20_000;

interface SizedAgent {
  /** Unique in this process. */
  readonly id: number;
  readonly timeBySize?: TimeBySize | undefined;
}

type Classes = readonly SizeClassTally[];

/** Transfers of an agent in the window. */
export interface RecentSizes {
  readonly transmit: Classes;
  readonly receive: Classes;
}

interface KeptCounts {
  readonly takenMs: number;
  readonly agents: ReadonlyMap<number, RecentSizes>;
}

const NOTHING: RecentSizes = { transmit: [], receive: [] };

export class SizeWindow {
  /** From the oldest to the newest. The first one is the begin of the window. */
  #kept: KeptCounts[] = [];

  /** Keeps the counts of a snapshot if it is time for it. Later ones must not have an earlier time. */
  take(takenMs: number, agents: readonly SizedAgent[]): void {
    const last = this.#kept.at(-1);
    if (last !== undefined && takenMs - last.takenMs < KEEP_MS) return;
    const counts = agents.flatMap(({ id, timeBySize }): [number, RecentSizes][] => {
      if (timeBySize === undefined) return [];
      const before = last?.agents.get(id) ?? NOTHING;
      const { transmit, receive } = timeBySize;
      const kept = {
        transmit: transmit.classes.map((one) => keptClass(one, before.transmit)),
        receive: receive.classes.map((one) => keptClass(one, before.receive)),
      };
      return [[id, kept]];
    });
    this.#kept.push({ takenMs, agents: new Map(counts) });
    while (this.#kept.length > 1 && takenMs - this.#kept[1]!.takenMs >= WINDOW_MS) this.#kept.shift();
  }

  /** Returns the span of the window at this time, milliseconds. */
  spanAt(takenMs: number): number {
    return Math.max(0, takenMs - (this.#begin(takenMs)?.takenMs ?? takenMs));
  }

  /** Returns what an agent of a snapshot of this time transferred in the window: all of it if the agent is younger. */
  recentOf({ id, timeBySize }: SizedAgent, takenMs: number): RecentSizes {
    if (timeBySize === undefined) return NOTHING;
    const before = this.#begin(takenMs)?.agents.get(id);
    return {
      transmit: classesSince(before?.transmit, timeBySize.transmit.classes),
      receive: classesSince(before?.receive, timeBySize.receive.classes),
    };
  }

  /** Returns the latest counts that are as old as the window, or the oldest ones. */
  #begin(takenMs: number): KeptCounts | undefined {
    return this.#kept.findLast((kept) => takenMs - kept.takenMs >= WINDOW_MS) ?? this.#kept[0];
  }
}

/** Returns a copy: counts of a snapshot change with the next one. A class without a transfer since is kept once. */
function keptClass(now: SizeClassTally, before: Classes): SizeClassTally {
  const same = before.find(({ upToBytes, count }) => upToBytes === now.upToBytes && count === now.count);
  return same ?? { ...now, duration: keptTimes(now.duration), post: keptTimes(now.post) };
}

function keptTimes({ sum, exponential }: TimesOfClass): TimesOfClass {
  return { sum, exponential: { ...exponential, counts: new Float64Array(exponential.counts) } };
}
