/** One ring that is looked at and never taken from, as an agent's running totals. */
import { Category, tallyOptions } from '../../mapping/index.js';
import { observeTally, type TallyingObserver } from '../../shm-bridge/index.js';
import type { AgentLife, EventTally, ObservedRing } from '../../shm-bridge/types.js';
import { DROPPED, POST_TIME, RX_BYTES, RX_REQUESTS, TRANSFER_TIME, TX_BYTES, TX_REQUESTS } from '../event-types.js';
import type { AgentTotals } from './totals.js';

/** 24 to a decade, from 1 us to 1000 s: a percentile is off by a tenth at most. */
const FINE_BOUNDS_US = Array.from({ length: 9 * 24 + 1 }, (_, step) => 10 ** (step / 24));
const TALLY = tallyOptions({ durationBoundsUs: FINE_BOUNDS_US });
/** As serve's --dead-ttl: so long the last numbers of a dead agent are worth a line. */
const DEAD_SHOWN_MS = 30_000;

let opened = 0;

export class RingTotals {
  readonly path: string;
  readonly inode: number;
  readonly #id = `ring ${opened++}`;
  readonly #agent: string;
  readonly #place: string;
  readonly #observer: TallyingObserver;
  readonly #openedMs = Date.now();
  #lastEventMs: number | undefined;
  #looked = false;
  #fill = 0;
  #lapped = false;
  #stalled = false;
  #wasFull = false;
  #problem: string | undefined;
  #pid: number | undefined;
  #diedMs: number | undefined;

  /** @throws NixlTelemetryError RING_UNAVAILABLE */
  constructor(path: string, inode: number, agent: string, place: string) {
    this.path = path;
    this.inode = inode;
    this.#agent = agent;
    this.#place = place;
    this.#observer = observeTally(path, TALLY);
  }

  /** Often: a ring that goes round between two looks is seen in part only. */
  look(nowMs: number): ObservedRing {
    const seen = this.#observer.observe();
    this.#lapped ||= seen.lapped;
    this.#stalled = seen.stalled;
    this.#wasFull ||= seen.stalled;
    const isRing = seen.state === 'ready' || seen.state === 'initializing';
    this.#problem = isRing ? undefined : `${this.path} is ${seen.state}: ${seen.reason}`;
    // How old what lay in the ring at the first look is cannot be told.
    if (seen.found > 0 && this.#looked) this.#lastEventMs = nowMs;
    if (seen.capacity !== undefined && seen.capacity > 1) {
      this.#fill = Math.max(this.#fill, (seen.pending ?? 0) / (seen.capacity - 1));
      this.#looked = true;
    }
    return seen;
  }

  /** The process that was found to write it, if any. */
  noteWriter(pid: number | undefined, nowMs: number): void {
    if (pid !== undefined) this.#diedMs = undefined;
    else if (this.#pid !== undefined) this.#diedMs ??= nowMs;
    this.#pid = pid ?? this.#pid;
  }

  /** Cheap, where a search for all writers is not: whether the one that was found is still there. */
  checkWriter(nowMs: number): void {
    if (this.#pid !== undefined && this.#diedMs === undefined && !isRunning(this.#pid)) this.#diedMs = nowMs;
  }

  /** Full, and nobody drains it. */
  get stalled(): boolean {
    return this.#stalled;
  }

  /** What became of a file that was a ring. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** `place`: told only where names alone do not tell agents apart. What was the most since the last call begins again. */
  totals(nowMs: number, tellPlace: boolean): AgentTotals {
    const { events } = this.#observer.tally();
    const sum = (type: number): number => Number(events[type]?.sum ?? 0n);
    const errors = events.filter(({ category }) => category === Category.ERROR);
    const fill = this.#fill;
    this.#fill = 0;
    return {
      id: this.#id,
      agent: this.#agent,
      ...(tellPlace ? { place: this.#place } : {}),
      life: this.#life(),
      ...(this.#pid === undefined ? {} : { pid: this.#pid }),
      txBytes: sum(TX_BYTES),
      rxBytes: sum(RX_BYTES),
      requests: sum(TX_REQUESTS) + sum(RX_REQUESTS),
      errors: errors.reduce((all, { count }) => all + count, 0),
      lost: sum(DROPPED),
      lostMore: this.#wasFull,
      missed: this.#lapped,
      ...timesOf(events, TRANSFER_TIME, 'transferTimes'),
      ...timesOf(events, POST_TIME, 'postTimes'),
      fill,
      idleMs: Math.max(0, nowMs - (this.#lastEventMs ?? this.#openedMs)),
      unused: this.#unused(nowMs),
    };
  }

  close(): void {
    this.#observer.close();
  }

  #life(): AgentLife {
    if (this.#pid === undefined) return 'unknown';
    return this.#diedMs === undefined ? 'alive' : 'dead';
  }

  #unused(nowMs: number): boolean {
    if (this.#pid === undefined) return this.#lastEventMs === undefined;
    return this.#diedMs !== undefined && nowMs - this.#diedMs > DEAD_SHOWN_MS;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function timesOf<K extends string>(
  events: readonly EventTally[],
  type: number,
  key: K,
): Partial<Record<K, { bounds: readonly number[]; counts: readonly number[] }>> {
  const histogram = events[type]?.histogram;
  return histogram === undefined ? {} : ({ [key]: histogram } as Record<K, typeof histogram>);
}
