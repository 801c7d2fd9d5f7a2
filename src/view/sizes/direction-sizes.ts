/** Time by size of one agent and direction, as page, terminal and JSON show it. Pure; the live page uses this module, too. */
import type { ExponentialTally } from '../../ground/exponential.js';
import type { DirectionTimes, SizeClassTally } from '../../ground/tally.js';
import { type Posting, postingOf, type SizeFigures, sizeFiguresOf } from './size-figures.js';
import { type TimeModel, timeLineOf } from './time-line.js';

/** JSON has no infinity: the bound of the class without one is null there. */
export type JsonBound = number | null;

export function boundOf(upToBytes: JsonBound): number {
  return upToBytes ?? Infinity;
}

/** A size class as JSON has it. */
export interface JsonClass extends Omit<SizeFigures, 'upToBytes' | 'bytes'> {
  /** Inclusive. */
  readonly upToBytes: JsonBound;
  readonly bytes: number;
  /** Distributions, where they are asked for. */
  readonly timesUs?: ExponentialTally;
  readonly postTimesUs?: ExponentialTally;
}

/** A class in the window. A multiple is absent where there is too little to compare with. */
export interface RecentClass extends JsonClass {
  /** Median as a multiple of that of the fastest quarter of the other agents. */
  readonly againstPeers?: number;
  /** Median as a multiple of that of the agent before the window. */
  readonly againstEarlier?: number;
}

export interface DirectionSizes {
  /** All transfers since the agent's sums began. */
  readonly classes: readonly JsonClass[];
  /** The transfers of the window. */
  readonly recent: readonly RecentClass[];
  /** Of the window; of all transfers if the window has none. */
  readonly model: TimeModel;
  /** As the model. */
  readonly posting?: Posting;
  /** Transfers that ended inside of their post, since the agent's sums began. */
  readonly endedInPost: number;
}

interface Wants {
  /** True adds the distributions of each class. */
  readonly distributions?: boolean;
}

/** `recent`: classes of the window; without it there is no window, and the model is of all transfers. */
export function directionSizesOf(
  { classes, endedInPost }: DirectionTimes,
  recent: readonly SizeClassTally[] = [],
  wants: Wants = {},
): DirectionSizes {
  const modelled = recent.length > 0 ? recent : classes;
  const posting = postingOf(modelled);
  return {
    classes: jsonClasses(classes, wants),
    recent: jsonClasses(recent, wants),
    model: timeLineOf(modelled),
    ...(posting && { posting }),
    endedInPost,
  };
}

function jsonClasses(classes: readonly SizeClassTally[], { distributions = false }: Wants): JsonClass[] {
  const tallies = new Map(classes.map((one) => [one.upToBytes, one]));
  return sizeFiguresOf(classes).map((figures) => {
    const { duration, post } = tallies.get(figures.upToBytes)!;
    return {
      ...figures,
      upToBytes: figures.upToBytes === Infinity ? null : figures.upToBytes,
      bytes: Number(figures.bytes),
      ...(distributions && { timesUs: plain(duration.exponential), postTimesUs: plain(post.exponential) }),
    };
  });
}

/** JSON has no typed arrays. */
function plain({ counts, ...rest }: ExponentialTally): ExponentialTally {
  return { ...rest, counts: Array.from(counts) };
}
