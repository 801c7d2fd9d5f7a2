/** Events of one or several rings in the order of their times. Events of one ring keep their order. */
import type { RingEventColumns } from '../../shm-bridge/types.js';
import { type WritableEvents, type EventWriter, timeUsOf } from './event-writer.js';
import { BATCH_EVENTS, type Reading } from './opened-ring.js';

/**
 * Events wait so long for earlier ones of other rings. By default an agent copies its events into its ring every
 * 100 ms, and read looks every 50 ms.
 */
const WAIT_US = 250_000;
/** A ring of which more events wait is written without a wait, to bound the memory. */
const MOST_WAITING = 4 * BATCH_EVENTS;

export interface MergeOptions {
  /** Number of events to print. */
  readonly most: number;
  /** True if later events are awaited. */
  readonly follows: boolean;
  /** True if taken events leave their ring: then no more are taken than can be printed, in the order of the rings. */
  readonly consumes: boolean;
}

export class MergedEvents {
  /** Events taken from the rings. */
  seen = 0;
  /** Events that the filter shows. */
  printed = 0;
  /** Events taken and not yet written. */
  #waiting = 0;
  readonly #lanes: readonly Lane[];
  readonly #writer: EventWriter;
  readonly #options: MergeOptions;
  /** True once a ring has had events with times of its agent: only these may be later than others. */
  #hasTimes = false;

  constructor(readings: readonly Reading[], writer: EventWriter, options: MergeOptions) {
    this.#lanes = readings.map((reading) => new Lane(reading));
    this.#writer = writer;
    this.#options = options;
  }

  /** True once as many events are printed as were asked for. */
  get isComplete(): boolean {
    return this.printed >= this.#options.most;
  }

  /** True if the rings had no further events at the last look, and all are written. */
  get isAtEnd(): boolean {
    return this.#waiting === 0 && this.#lanes.every(({ isAtEnd }) => isAtEnd);
  }

  /** Takes new events from the rings. Returns false if there are none. */
  take(): boolean {
    const before = this.seen;
    for (const lane of this.#lanes) {
      if (this.#options.follows ? lane.waiting < MOST_WAITING : lane.waiting === 0) this.#takeFrom(lane);
    }
    return this.seen > before;
  }

  #takeFrom(lane: Lane): void {
    const { most, follows, consumes } = this.#options;
    const room = consumes ? Math.min(BATCH_EVENTS, most - this.printed - this.#waiting) : BATCH_EVENTS;
    const events = room > 0 ? lane.reading.take(room) : undefined;
    const haveArrived = follows && lane.isCaughtUp;
    lane.isAtEnd = events === undefined || events.length === 0;
    lane.isCaughtUp ||= room > 0 && (events?.length ?? 0) < room;
    if (events === undefined || events.length === 0) return;
    const nowUs = Date.now() * 1000;
    this.seen += events.length;
    this.#waiting += events.length;
    this.#hasTimes ||= events.kinds.some(({ timestamped }) => timestamped);
    if (haveArrived) setArrivals(events, nowUs);
    // No agent wrote an event after read saw it: a later time is wrong, and must not hold up the other events.
    const latestUs = follows ? nowUs : Infinity;
    lane.add({ batch: this.#writer.batchOf(lane.reading.agent, events, haveArrived), latestUs });
  }

  /**
   * Writes events in the order of their times, a part of them at a time. Returns false if no further ones can be
   * written yet. `isLast`: no further events will be taken, so none has to wait.
   */
  write(isLast = false): boolean {
    const untilUs = isLast ? Infinity : this.#horizonUs();
    for (let left = BATCH_EVENTS; left > 0 && !this.isComplete;) {
      const next = this.#next(isLast);
      if (next === undefined || next.lane.headUs > untilUs) return false;
      const [run, from, to] = next.lane.takeRun(Math.min(next.nextUs, untilUs), left);
      this.printed += this.#writer.write(run, from, to, this.#options.most - this.printed);
      this.#waiting -= to - from;
      left -= to - from;
    }
    return !this.isComplete;
  }

  /** Returns the time up to which no ring is expected to get further events. */
  #horizonUs(): number {
    const isWaiting = this.#options.follows && this.#hasTimes && this.#lanes.length > 1;
    const isTooMuch = this.#lanes.some(({ waiting }) => waiting >= MOST_WAITING);
    return isWaiting && !isTooMuch ? Date.now() * 1000 - WAIT_US : Infinity;
  }

  /** Returns the lane with the earliest event, and the time of the next lane's; undefined until every lane was read. */
  #next(isLast: boolean): { lane: Lane; nextUs: number } | undefined {
    let lane: Lane | undefined;
    let [headUs, nextUs] = [Infinity, Infinity];
    for (const one of this.#lanes) {
      if (one.waiting === 0) {
        if (one.isAtEnd || isLast) continue;
        return undefined;
      }
      if (lane === undefined || one.headUs < headUs) {
        nextUs = headUs;
        [lane, headUs] = [one, one.headUs];
      } else if (one.headUs < nextUs) nextUs = one.headUs;
    }
    return lane && { lane, nextUs };
  }
}

interface WaitingBatch {
  readonly batch: WritableEvents;
  /** Later times count as this one. */
  readonly latestUs: number;
}

/** Events of one ring that are not yet written. */
class Lane {
  readonly reading: Reading;
  /** True if the last look found no further events. */
  isAtEnd = false;
  /** True once all events were read that were in the ring before. */
  isCaughtUp = false;
  waiting = 0;
  /** Time of the earliest waiting event. */
  headUs = Infinity;
  readonly #batches: WaitingBatch[] = [];
  #position = 0;

  constructor(reading: Reading) {
    this.reading = reading;
  }

  add(batch: WaitingBatch): void {
    this.#batches.push(batch);
    this.waiting += batch.batch.length;
    this.#setHead();
  }

  /** Takes the first events of one batch, at most `most`, up to this time. There is at least one. */
  takeRun(untilUs: number, most: number): [batch: WritableEvents, from: number, to: number] {
    const { batch, latestUs } = this.#batches[0]!;
    const from = this.#position;
    const end = Math.min(batch.length, from + most);
    let to = untilUs === Infinity ? end : from + 1;
    while (to < end && Math.min(timeUsOf(batch, to), latestUs) <= untilUs) to++;
    this.waiting -= to - from;
    this.#position = to;
    if (to === batch.length) {
      this.#batches.shift();
      this.#position = 0;
    }
    this.#setHead();
    return [batch, from, to];
  }

  #setHead(): void {
    const [first] = this.#batches;
    this.headUs = first === undefined ? Infinity : Math.min(timeUsOf(first.batch, this.#position), first.latestUs);
  }
}

/** Gives events without a time that of their arrival. Without it their time is 0: they come first. */
function setArrivals({ kinds, kindOf, timestampsUs }: RingEventColumns, nowUs: number): void {
  const arrivedUs = BigInt(nowUs);
  if (!kinds.some(({ timestamped }) => timestamped)) return void timestampsUs.fill(arrivedUs);
  for (let i = 0; i < timestampsUs.length; i++) if (!kinds[kindOf[i]!]!.timestamped) timestampsUs[i] = arrivedUs;
}
