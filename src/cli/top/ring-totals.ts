/** Running totals of one ring's agent, by passive observation. */
import { statSync } from 'node:fs';
import { EVENTS } from '../../mapping/events.js';
import { tallyOptions } from '../../mapping/tally-options.js';
import { inspectRing } from '../../shm-bridge/ring.js';
import { observeTally, type TallyingObserver } from '../../shm-bridge/tallying-observer.js';
import { type AgentLife, Category, type EventTally } from '../../tally.js';
import { totalsOf } from '../figures/totals.js';
import type { AgentDetails, AgentTotals } from './sampler.js';

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
  problem: { readonly state: string; readonly reason: string } | undefined;
  readonly #id = `ring ${opened++}`;
  readonly #name: Pick<AgentTotals, 'agent' | 'place'>;
  readonly #observer: TallyingObserver;
  readonly #openedMs = Date.now();
  #lastEventMs: number | undefined;
  #observed = false;
  #fill = 0;
  #capacity: number | undefined;
  #wireVersion: number | undefined;
  /** Observations that found the ring full without a consumer, and those that came too late. */
  #stalls = 0;
  #laps = 0;
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
    if (seen.lapped) this.#laps++;
    if (seen.stalled) this.#stalls++;
    this.stalled = seen.stalled;
    const isRing = seen.state === 'ready' || seen.state === 'initializing';
    this.problem = isRing ? undefined : { state: seen.state, reason: seen.reason };
    // The first call finds events of unknown age.
    if (seen.found > 0 && this.#observed) this.#lastEventMs = nowMs;
    this.#capacity = seen.capacity ?? this.#capacity;
    this.#wireVersion = seen.wireVersion ?? this.#wireVersion;
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
    const { events, memoryInUse } = this.#observer.tally();
    const { dropped, ...totals } = totalsOf(events);
    const fill = this.#fill;
    this.#fill = 0;
    return {
      ...totals,
      id: this.#id,
      ...this.#name,
      life: this.#life(),
      ...(this.#pid === undefined ? {} : { pid: this.#pid }),
      ...(totals.errors === 0 ? {} : { errorsByStatus: errorsByStatus(events) }),
      memoryBytes: Number(memoryInUse),
      // Registrations before the start of top are unknown.
      memoryApproximate: true,
      lost: Number(dropped),
      lostMore: this.#stalls > 0,
      missed: this.#laps > 0,
      troubles: { undrained: this.#stalls, lapped: this.#laps },
      ...(this.#capacity === undefined ? {} : { capacity: this.#capacity }),
      fill,
      idleMs: Math.max(0, nowMs - (this.#lastEventMs ?? this.#openedMs)),
      unused: this.#unused(nowMs),
    };
  }

  details(): AgentDetails {
    const { events, transfers } = this.#observer.tally();
    const { readPos, writePos, pending } = inspectRing(this.path);
    const uid = statSync(this.path, { throwIfNoEntry: false })?.uid;
    return {
      path: this.path,
      ...(this.#wireVersion === undefined ? {} : { wireVersion: this.#wireVersion }),
      ...(readPos === undefined || writePos === undefined || pending === undefined
        ? {}
        : { ring: { readPos, writePos, pending } }),
      events: events.reduce((all, { count }) => all + count, 0),
      txSizes: transfers.transmit.size.exponential,
      rxSizes: transfers.receive.size.exponential,
      registeredBytes: Number(totalsOf(events).registered),
      ...(uid === undefined ? {} : { uid }),
    };
  }

  get id(): string {
    return this.#id;
  }

  /** Process that writes the ring; undefined if none is known, and after its end. */
  get livePid(): number | undefined {
    return this.#diedMs === undefined ? this.#pid : undefined;
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

const STATUSES = new Map(EVENTS.map(({ event, type }) => [type, event.replace('agent_err_', '')]));

function errorsByStatus(events: readonly EventTally[]): Record<string, number> {
  const failed = events.filter(({ category, count }) => category === Category.ERROR && count > 0);
  return Object.fromEntries(
    failed.map(({ type, name, count }) => [STATUSES.get(type!) ?? name ?? `type ${type}`, count]),
  );
}
