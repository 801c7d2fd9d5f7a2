/** Running totals of one ring's agent, by passive observation. */
import { tallyOptions } from '../../mapping/tally-options.js';
import { observeTally, type TallyingObserver } from '../../shm-bridge/tallying-observer.js';
import type { AgentLife } from '../../shm-bridge/types.js';
import { totalsOf } from '../figures/totals.js';
import type { AgentTotals } from './tracker.js';

const TALLY = tallyOptions();
/** Default of serve's --dead-ttl: for this time a dead agent keeps its line. */
const DEAD_SHOWN_MS = 30_000;

let opened = 0;

export class RingTotals {
  readonly path: string;
  readonly inode: number;
  /** True while the ring is full and no consumer drains it. */
  stalled = false;
  /** Problem of a file that is no longer a ring. */
  problem: string | undefined;
  readonly #id = `ring ${opened++}`;
  readonly #name: Pick<AgentTotals, 'agent' | 'place'>;
  readonly #observer: TallyingObserver;
  readonly #openedMs = Date.now();
  #lastEventMs: number | undefined;
  #observed = false;
  #fill = 0;
  #lapped = false;
  #wasFull = false;
  #pid: number | undefined;
  #diedMs: number | undefined;

  /** @throws NixlTelemetryError RING_UNAVAILABLE */
  constructor(path: string, inode: number, name: Pick<AgentTotals, 'agent' | 'place'>) {
    this.path = path;
    this.inode = inode;
    this.#name = name;
    this.#observer = observeTally(path, TALLY);
  }

  /** Reads new events. If the ring wraps between two calls, events are missed. */
  observe(nowMs: number): void {
    const seen = this.#observer.observe();
    this.#lapped ||= seen.lapped;
    this.stalled = seen.stalled;
    this.#wasFull ||= seen.stalled;
    const isRing = seen.state === 'ready' || seen.state === 'initializing';
    this.problem = isRing ? undefined : `${this.path} is ${seen.state}: ${seen.reason}`;
    // The first call finds events of unknown age.
    if (seen.found > 0 && this.#observed) this.#lastEventMs = nowMs;
    if (seen.capacity !== undefined && seen.capacity > 1) {
      this.#fill = Math.max(this.#fill, (seen.pending ?? 0) / (seen.capacity - 1));
      this.#observed = true;
    }
  }

  /** `pid`: the process that has the ring open for writing; undefined if none was found. */
  setWriter(pid: number | undefined, nowMs: number): void {
    if (pid !== undefined) this.#diedMs = undefined;
    else if (this.#pid !== undefined) this.#diedMs ??= nowMs;
    this.#pid = pid ?? this.#pid;
  }

  /** Checks whether the known writer still runs: cheap, unlike a search for all writers. */
  checkWriter(nowMs: number): void {
    if (this.#pid !== undefined && this.#diedMs === undefined && !isRunning(this.#pid)) this.#diedMs = nowMs;
  }

  /** Returns the totals, with the highest fill since the last call. */
  totals(nowMs: number): AgentTotals {
    const { dropped, ...totals } = totalsOf(this.#observer.tally().events);
    const fill = this.#fill;
    this.#fill = 0;
    return {
      ...totals,
      id: this.#id,
      ...this.#name,
      life: this.#life(),
      ...(this.#pid === undefined ? {} : { pid: this.#pid }),
      lost: Number(dropped),
      lostMore: this.#wasFull,
      missed: this.#lapped,
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
