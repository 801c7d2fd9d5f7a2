/** Time by size of one agent and direction, as page, terminal and JSON show it. Pure; the live page uses this module, too. */
import type { ExponentialTally } from '../../ground/exponential.js';
import type { DirectionTimes, SizeClassTally } from '../../ground/tally.js';
import { classesSince } from './class-window.js';
import { against, type ClassReference, referenceLineOf } from './references.js';
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
  /** Median as a multiple of the usual one of the agent; of that before the window, where none is known. */
  readonly againstEarlier?: number;
}

export interface DirectionSizes {
  /** All transfers since the agent's sums began. */
  readonly classes: readonly JsonClass[];
  /** The transfers of the window. */
  readonly recent: readonly RecentClass[];
  /** Of the window; of all transfers if the window has none. */
  readonly model: TimeModel;
  /** Rate of the model as a share of that of the RDMA ports by which the bytes certainly go. Only `serve` knows it. */
  readonly portShare?: number;
  /** As the model. */
  readonly posting?: Posting;
  /** Model of the fastest quarter of the other agents, where it is asked for and there are enough. */
  readonly peersModel?: TimeModel;
  /** Transfers that ended inside of their post, since the agent's sums began. */
  readonly endedInPost: number;
}

/** Time by size of one agent. */
export interface AgentSizes {
  /** Unique in its process. */
  readonly id: number;
  /** File name of the ring below its directory. */
  readonly agent: string;
  readonly directory: string;
  /** Name for people: the path if another agent has the same name. */
  readonly name: string;
  readonly tx: DirectionSizes;
  readonly rx: DirectionSizes;
}

interface Wants {
  /** True adds the distributions of each class, and the model of the peers. */
  readonly details?: boolean;
  /** Classes of the fastest quarter of the other agents, in the same window. */
  readonly peers?: readonly ClassReference[];
  /** What is usual for the agent: it counts in place of the time before the window, which may have the same fault. */
  readonly usual?: readonly ClassReference[];
}

/** `recent`: classes of the window; without it there is no window, and the model is of all transfers. */
export function directionSizesOf(
  { classes, endedInPost }: DirectionTimes,
  recent: readonly SizeClassTally[] = [],
  wants: Wants = {},
): DirectionSizes {
  const modelled = recent.length > 0 ? recent : classes;
  const posting = postingOf(modelled);
  const { details = false, peers = [], usual = [] } = wants;
  return {
    classes: jsonClasses(classes, details),
    recent: recentClasses(classes, recent, { details, peers, usual }),
    model: timeLineOf(modelled),
    ...(posting && { posting }),
    ...(details && peers.length > 0 && { peersModel: referenceLineOf(peers) }),
    endedInPost,
  };
}

function recentClasses(
  classes: readonly SizeClassTally[],
  recent: readonly SizeClassTally[],
  { details, peers, usual }: Required<Wants>,
): RecentClass[] {
  const figures = sizeFiguresOf(recent).filter(({ few }) => !few);
  const multiplesOf = (references: readonly ClassReference[]): ReadonlyMap<number, number> =>
    new Map(against(figures, references).map(({ upToBytes, multiple }) => [upToBytes, multiple]));
  const byPeers = multiplesOf(peers);
  const byEarlier = multiplesOf([...sizeFiguresOf(classesSince(recent, classes)), ...usual]);
  return jsonClasses(recent, details).map((one) => {
    const againstPeers = byPeers.get(boundOf(one.upToBytes));
    const againstEarlier = byEarlier.get(boundOf(one.upToBytes));
    return {
      ...one,
      ...(againstPeers !== undefined && { againstPeers }),
      ...(againstEarlier !== undefined && { againstEarlier }),
    };
  });
}

function jsonClasses(classes: readonly SizeClassTally[], details: boolean): JsonClass[] {
  const tallies = new Map(classes.map((one) => [one.upToBytes, one]));
  return sizeFiguresOf(classes).map((figures) => {
    const { duration, post } = tallies.get(figures.upToBytes)!;
    return {
      ...figures,
      upToBytes: figures.upToBytes === Infinity ? null : figures.upToBytes,
      bytes: Number(figures.bytes),
      ...(details && { timesUs: plain(duration.exponential), postTimesUs: plain(post.exponential) }),
    };
  });
}

/** JSON has no typed arrays. */
function plain({ counts, ...rest }: ExponentialTally): ExponentialTally {
  return { ...rest, counts: Array.from(counts) };
}
