/**
 * Takes samples of all agents: when the figures are asked for, at most twice a second, otherwise every five seconds. It keeps ten
 * minutes of history, the recent troubles, and ends of agents.
 */
import { reasonOf } from '../../errors.js';
import type { CustomError } from '../../mapping/custom-events.js';
import type { Snapshot } from '../../shm-bridge/types.js';
import { EndWatch } from '../verdict/end-watch.js';
import { TroubleWatch } from '../verdict/trouble-watch.js';
import type { Troubles } from '../verdict/types.js';
import { AgentHistory } from './agent-history.js';
import { EventHistory } from './event-history.js';
import { FleetHistory } from './fleet-history.js';
import { type AgentReading, ErrorStatuses, readingsOf } from './reading.js';
import { RecentTimes } from './recent-times.js';

/** Limits snapshots of the rings, however many clients ask. */
const SAME_SAMPLE_MS = 500;
/** Time between two samples if nobody asks. */
export const SAMPLE_MS = 5000;

/** Returns the totals so far; undefined after the source is closed. */
export type Peek = () => Snapshot | undefined;

/** Figures of all agents at one time. */
export interface Sample {
  readonly snapshot: Snapshot;
  readonly readings: readonly AgentReading[];
  readonly troubles: ReadonlyMap<number | string, Troubles>;
}

/** What is known since the first sample, or since the clock was set back. */
class Recording {
  readonly fleet: FleetHistory;
  readonly agents = new AgentHistory();
  readonly events = new EventHistory();
  readonly recent = new RecentTimes();
  readonly ends = new EndWatch<number>();
  readonly troubles: TroubleWatch;

  constructor(statuses: readonly string[], beganMs: number) {
    this.fleet = new FleetHistory(statuses.length);
    this.troubles = new TroubleWatch(statuses, beganMs);
  }
}

export class Recorder {
  readonly statuses: ErrorStatuses;
  readonly #peek: Peek;
  readonly #beganMs: number;
  readonly #timer: NodeJS.Timeout;
  #record: Recording;
  #sample: Sample | undefined;
  #sampledMs = -Infinity;

  /** `beganMs`: all that happened since then is recent. `onFailure`: called if a sample of the timer fails. */
  constructor(peek: Peek, customErrors: readonly CustomError[], beganMs: number, onFailure: (reason: string) => void) {
    this.statuses = new ErrorStatuses(customErrors);
    this.#peek = peek;
    this.#beganMs = beganMs;
    this.#record = new Recording(this.statuses.names, beganMs);
    const tick = (): void => {
      try {
        this.sample(SAMPLE_MS / 2);
      } catch (error) {
        onFailure(reasonOf(error)); // history must not end the process
      }
    };
    tick();
    this.#timer = setInterval(tick, SAMPLE_MS).unref();
  }

  get record(): Readonly<Recording> {
    return this.#record;
  }

  /** Returns figures that are at most half a second old; undefined after the rings are closed. */
  sample(sameForMs = SAME_SAMPLE_MS): Sample | undefined {
    if (performance.now() - this.#sampledMs <= sameForMs) return this.#sample;
    const snapshot = this.#peek();
    this.#sampledMs = performance.now();
    this.#sample = snapshot && this.#sampleOf(snapshot);
    return this.#sample;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sampleOf(snapshot: Snapshot): Sample {
    const before = this.#sample?.snapshot;
    // While the collector thread is blocked, a snapshot is repeated.
    if (this.#sample !== undefined && snapshot.takenMs === before?.takenMs) return { ...this.#sample, snapshot };
    // The clock was set back.
    if (snapshot.takenMs < (before?.takenMs ?? -Infinity))
      this.#record = new Recording(this.statuses.names, this.#beganMs);
    const takenMs = Math.floor(snapshot.takenMs); // of points, which a question names
    const readings = readingsOf(snapshot.agents, this.statuses);
    const { fleet, agents, events, recent, ends, troubles } = this.#record;
    recent.take(takenMs, readings);
    fleet.add(takenMs, readings);
    agents.add(takenMs, readings, (reading) => recent.of(reading, 'transferTimes')?.p99);
    events.add(takenMs, readings, ends.observe(takenMs, readings.map(mortal)));
    return { snapshot, readings, troubles: troubles.observe(takenMs, readings.map(watched)) };
  }
}

function mortal({ agent, name, totals }: AgentReading) {
  const { id, life, memoryInUse, memoryApproximate } = agent;
  return { id, name, life, requests: Number(totals.requests), memoryBytes: Number(memoryInUse), memoryApproximate };
}

function watched({ agent, totals, errors }: AgentReading) {
  const { id, startTimeMs, foundFull, foreignMoves, suspect } = agent;
  // The flag has both causes, and only one of them has a count.
  const unfollowed = suspect && foreignMoves === 0 ? 1 : 0;
  const counts = { full: foundFull, dropped: Number(totals.dropped), foreign: foreignMoves, unfollowed, errors };
  return { id, startTimeMs, counts };
}
