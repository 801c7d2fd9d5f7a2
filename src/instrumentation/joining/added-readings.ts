/** Sum of two readings of one agent, from two consecutive tallies. */
import { exponentialSum } from '../../ground/exponential.js';
import type { DirectionTimes, TimeBySize } from '../../ground/tally.js';
import {
  type AgentSnapshot,
  type HistogramTally,
  eventLike,
  type EventTally,
  type TransferTally,
} from '../../mapping/index.js';
import { classesSum } from '../../view/sizes/class-window.js';

/** Adds all counts. Bounds and other values are those of the later reading. */
export function addedReadings<Reading extends AgentSnapshot>(earlier: AgentSnapshot, later: Reading): Reading {
  const events = later.events.map((event, i) => addedEvents(eventLike(earlier, i, event), event));
  const gone = earlier.events.filter((event, i) => eventLike(later, i, event) === undefined);
  return {
    ...later,
    // A restarted tally adds nothing until it has an event or the collector sees the agent's process.
    exported: earlier.exported || later.exported,
    startTimeMs: earlier.startTimeMs,
    foundFull: earlier.foundFull + later.foundFull,
    foundFullMs: earlier.foundFullMs + later.foundFullMs,
    restarts: earlier.restarts + later.restarts,
    resyncs: earlier.resyncs + later.resyncs,
    foreignMoves: earlier.foreignMoves + later.foreignMoves,
    refused: earlier.refused + later.refused,
    suspect: earlier.suspect || later.suspect,
    shared: earlier.shared || later.shared,
    events: [...events, ...gone],
    transfers: {
      transmit: addedTransfers(earlier.transfers.transmit, later.transfers.transmit),
      receive: addedTransfers(earlier.transfers.receive, later.transfers.receive),
    },
    timeBySize: addedTimes(earlier.timeBySize, later.timeBySize),
  };
}

/** Returns the counts over the bounds of another reading of this agent: exact if the bounds are the same. */
export function inBoundsOf<Reading extends AgentSnapshot>(like: AgentSnapshot, reading: Reading): Reading {
  const transfers = (own: TransferTally, other: TransferTally): TransferTally => ({
    ...own,
    size: { ...own.size, ...rebucketed(own.size, other.size.bounds) },
    duration: { ...own.duration, ...rebucketed(own.duration, other.duration.bounds) },
    throughput: { ...own.throughput, ...rebucketed(own.throughput, other.throughput.bounds) },
  });
  return {
    ...reading,
    events: reading.events.map((event, i) => {
      const bounds = eventLike(like, i, event)?.histogram?.bounds;
      if (event.histogram === undefined || bounds === undefined) return event;
      return { ...event, histogram: { ...event.histogram, ...rebucketed(event.histogram, bounds) } };
    }),
    transfers: {
      transmit: transfers(reading.transfers.transmit, like.transfers.transmit),
      receive: transfers(reading.transfers.receive, like.transfers.receive),
    },
  };
}

function addedEvents(earlier: EventTally | undefined, later: EventTally): EventTally {
  if (earlier === undefined || earlier.count === 0) return later;
  const sums = {
    ...later,
    count: earlier.count + later.count,
    sum: earlier.sum + later.sum,
    last: later.count === 0 ? earlier.last : later.last,
  };
  if (earlier.histogram === undefined || later.histogram === undefined) return sums;
  return { ...sums, histogram: addedDistributions(earlier.histogram, later.histogram) };
}

function addedTransfers(earlier: TransferTally, later: TransferTally): TransferTally {
  return {
    count: earlier.count + later.count,
    size: addedDistributions(earlier.size, later.size),
    duration: addedDistributions(earlier.duration, later.duration),
    throughput: {
      ...addedBuckets(earlier.throughput, later.throughput),
      sum: earlier.throughput.sum + later.throughput.sum,
    },
  };
}

function addedTimes(earlier: TimeBySize | undefined, later: TimeBySize | undefined): TimeBySize | undefined {
  if (earlier === undefined || later === undefined) return later;
  const added = (before: DirectionTimes, after: DirectionTimes): DirectionTimes => ({
    ...before,
    classes: classesSum([before.classes, after.classes]),
    endedInPost: before.endedInPost + after.endedInPost,
    flushSquares: before.flushSquares + after.flushSquares,
  });
  return {
    transmit: added(earlier.transmit, later.transmit),
    receive: added(earlier.receive, later.receive),
  };
}

type ExactDistribution = HistogramTally & { readonly sum: bigint };

function addedDistributions(earlier: ExactDistribution, later: ExactDistribution): ExactDistribution {
  return { ...addedBuckets(earlier, later), sum: earlier.sum + later.sum };
}

function addedBuckets(earlier: HistogramTally, later: HistogramTally): HistogramTally {
  const { counts } = rebucketed(earlier, later.bounds);
  return {
    bounds: later.bounds,
    counts: later.counts.map((count, i) => count + counts[i]!),
    exponential: exponentialSum([earlier.exponential, later.exponential])!,
    startTimeMs: earlier.startTimeMs,
  };
}

/** Moves the count of each bucket by its upper bound: no value is lost, and each is at most one old bucket off. */
function rebucketed(tally: HistogramTally, wanted: readonly number[]): HistogramTally {
  const { bounds, counts } = tally;
  if (bounds === wanted || (bounds.length === wanted.length && bounds.every((bound, i) => bound === wanted[i]))) {
    return { ...tally, bounds: wanted };
  }
  const moved = new Array<number>(wanted.length + 1).fill(0);
  counts.forEach((count, i) => {
    const upper = bounds[i];
    const found = upper === undefined ? -1 : wanted.findIndex((bound) => upper <= bound);
    moved[found === -1 ? wanted.length : found]! += count;
  });
  return { ...tally, bounds: wanted, counts: moved };
}
