/** Builds the report of a run from the last snapshots of its agents, and what was watched of them. Pure. */
import { type ExponentialTally, TALLY_SCALE } from '../ground/exponential.js';
import { bucketOf } from '../ground/exponential-bucket.js';
import type { AgentSnapshot, DirectionTimes, SizeClassTally, TimesOfClass } from '../ground/tally.js';
import { errorsOf, type ServedAgent } from '../view/model/agent-model.js';
import { ErrorStatuses, modelsOf } from '../view/model/from-snapshot.js';
import { classesSince } from '../view/sizes/class-window.js';
import { directionSizesOf } from '../view/sizes/direction-sizes.js';
import {
  type DirectionName,
  type FirstTransfer,
  REPORT,
  type ReportedAgent,
  type ReportedClass,
  type ReportedDirection,
  type ReportTotals,
  type RunReport,
} from './run-report.js';

/** Bounds of the first size class, and of the last one but that without a bound. */
const SMALLEST_CLASS_BYTES = 1024;
const LARGEST_CLASS_BYTES = 2 ** 30;

/** A shorter time is that of a flush, and not of the work. */
const LEAST_WALL_MS = 100;

/** What only a process that watched the agent knows. */
export type WatchedFacts = Partial<
  Pick<
    ReportedAgent,
    'life' | 'pid' | 'firstTransfer' | 'memoryPeakBytes' | 'mayMissMs' | 'line' | 'endedMs' | 'rank' | 'gpus'
  >
>;

export interface ReportInput extends Omit<RunReport, 'report' | 'totals' | 'errorStatuses' | 'agents'> {
  /** With time by size. */
  readonly agents: readonly AgentSnapshot[];
  readonly watched: (agent: AgentSnapshot) => WatchedFacts;
}

export function buildReport({ agents: snapshots, watched, ...about }: ReportInput): RunReport {
  const statuses = new ErrorStatuses([]);
  const inOrder = [...snapshots].sort((a, b) => a.startTimeMs - b.startTimeMs || a.id - b.id);
  const models = modelsOf(inOrder, statuses);
  const agents = inOrder.map((snapshot, i) => agentOf(models[i]!, snapshot, watched(snapshot)));
  const { version, hostname, takenMs, run, ...rest } = about;
  return {
    report: REPORT,
    version,
    hostname,
    takenMs,
    run,
    totals: totalsOf(agents),
    errorStatuses: statuses.names,
    agents,
    ...rest,
  };
}

function totalsOf(agents: readonly ReportedAgent[]): ReportTotals {
  const sum = (of: (agent: ReportedAgent) => number): number => agents.reduce((all, agent) => all + of(agent), 0);
  return {
    txBytes: sum(({ tx }) => tx.bytes),
    rxBytes: sum(({ rx }) => rx.bytes),
    txTransfers: sum(({ tx }) => tx.transfers),
    rxTransfers: sum(({ rx }) => rx.transfers),
    errors: sum(errorsOf),
    lost: sum(({ lost }) => lost),
  };
}

function agentOf(model: ServedAgent, { timeBySize, wireVersion }: AgentSnapshot, watched: WatchedFacts): ReportedAgent {
  const { transmit, receive } = timeBySize!;
  const wallMs = model.lastEventMs === undefined ? 0 : model.lastEventMs - model.startTimeMs;
  const { firstTransfer } = watched;
  const directionOf = (direction: DirectionName, times: DirectionTimes, transfers: number, bytes: number) => {
    const first = firstTransfer?.direction === direction ? firstTransfer : undefined;
    return reportedDirection(times, first, { transfers, bytes, wallMs });
  };
  return {
    agent: model.agent,
    name: model.name,
    life: model.life,
    pid: model.pid,
    startTimeMs: model.startTimeMs,
    lastEventMs: model.lastEventMs,
    errors: model.errors,
    memoryBytes: model.memoryBytes,
    memoryApproximate: model.memoryApproximate,
    registeredBytes: model.registeredBytes,
    dropped: model.dropped,
    lost: model.lost,
    foundFull: model.foundFull,
    foundFullMs: model.foundFullMs,
    capacity: model.capacity,
    flushIntervalMs: model.flushIntervalMs,
    restarts: model.restarts,
    suspect: model.suspect,
    writers: model.writers,
    events: model.events,
    wireVersion,
    ...watched,
    tx: directionOf('tx', transmit, model.txRequests, model.txBytes),
    rx: directionOf('rx', receive, model.rxRequests, model.rxBytes),
  };
}

interface Moved {
  readonly transfers: number;
  readonly bytes: number;
  readonly wallMs: number;
}

function reportedDirection(
  times: DirectionTimes,
  first: FirstTransfer | undefined,
  { transfers, bytes, wallMs }: Moved,
): ReportedDirection {
  const classes = first === undefined ? times.classes : withoutFirst(times.classes, first);
  const { model, posting, classes: figures } = directionSizesOf({ ...times, classes }, [], { details: true });
  const tallies = new Map(classes.map((one) => [one.upToBytes, one]));
  const timeUs = times.classes.reduce((sum, { duration }) => sum + duration.sum, 0n);
  const timedBytes = times.classes.reduce((sum, one) => sum + one.bytes, 0n);
  return {
    transfers,
    bytes,
    ...(timeUs > 0n && { bytesPerSecond: (Number(timedBytes) * 1e6) / Number(timeUs) }),
    ...(wallMs >= LEAST_WALL_MS && { wallBytesPerSecond: (bytes * 1000) / wallMs }),
    classes: figures.map((one): ReportedClass => {
      const { duration, post } = tallies.get(one.upToBytes ?? Infinity)!;
      const { timesUs, postTimesUs } = one;
      const sums = { timeSumUs: Number(duration.sum), postTimeSumUs: Number(post.sum) };
      return { ...one, timesUs: timesUs!, postTimesUs: postTimesUs!, ...sums };
    }),
    model,
    ...(posting && { posting }),
    endedInPost: times.endedInPost,
  };
}

/** Leaves the classes as they are if none of them has this transfer: it was cut, or the counts began after it. */
function withoutFirst(classes: readonly SizeClassTally[], first: FirstTransfer): readonly SizeClassTally[] {
  const { bytes, timeUs, postTimeUs } = first;
  const home = classes.find(({ upToBytes }) => isInClass(bytes, upToBytes));
  if (home === undefined) return classes;
  const alone: SizeClassTally = {
    upToBytes: home.upToBytes,
    count: 1,
    bytes: BigInt(bytes),
    duration: timesOfOne(timeUs),
    post: timesOfOne(postTimeUs),
  };
  return classesSince([alone], classes).filter(({ count }) => count > 0);
}

function isInClass(bytes: number, upToBytes: number): boolean {
  if (upToBytes === SMALLEST_CLASS_BYTES) return bytes <= upToBytes;
  return upToBytes === Infinity ? bytes > LARGEST_CLASS_BYTES : bytes <= upToBytes && bytes > upToBytes / 2;
}

function timesOfOne(us: number | undefined): TimesOfClass {
  if (us === undefined) return { sum: 0n, exponential: exponentialOf(0, 0, []) };
  if (us === 0) return { sum: 0n, exponential: exponentialOf(1, 0, []) };
  return { sum: BigInt(us), exponential: exponentialOf(0, bucketOf(Math.floor(us / 2 ** 32), us >>> 0), [1]) };
}

function exponentialOf(zeroCount: number, offset: number, counts: readonly number[]): ExponentialTally {
  return { scale: TALLY_SCALE, zeroCount, offset, counts };
}
