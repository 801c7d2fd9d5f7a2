/** The agent of one ring, by passive observation. */
import { statSync } from 'node:fs';
import { EVENTS } from '../mapping/events.js';
import { tallyOptions } from '../mapping/tally-options.js';
import { flushSettingOf, isRunning } from '../shm-bridge/agent-process.js';
import { positionsOf } from '../shm-bridge/ring.js';
import { observeTally, type TallyingObserver } from '../shm-bridge/tallying-observer.js';
import { oneLine } from '../ground/one-line.js';
import { DEFAULT_DEAD_TTL_MS } from '../ground/source-limits.js';
import { type AgentLife, Category, type TimeBySize } from '../ground/tally.js';
import type { AgentModel } from '../view/model/agent-model.js';
import { fieldsOf, statusOf } from '../view/model/from-tally.js';
import { FlushRhythm } from './flush-rhythm.js';
import type { TopAgent } from './sampler.js';

const TALLY = tallyOptions();

let opened = 0;

export class RingTotals {
  readonly path: string;
  readonly inode: number;
  /** True while the ring is full and no consumer drains it. */
  stalled = false;
  /** Processes that could write the ring at the last search. */
  writers: readonly number[] = [];
  /** Problem of a file that is no longer a ring. */
  problem: { readonly state: string; readonly reason: string } | undefined;
  /** Unique in this process. */
  readonly number = opened++;
  /** Of the last totals. */
  timeBySize: TimeBySize | undefined;
  readonly #id = `ring ${this.number}`;
  readonly #name: Pick<TopAgent, 'agent' | 'place'>;
  readonly #observer: TallyingObserver;
  readonly #openedMs = Date.now();
  readonly #rhythm = new FlushRhythm();
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
  constructor(path: string, inode: number, name: Pick<TopAgent, 'agent' | 'place'>) {
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
    if (this.#observed) this.#rhythm.note(seen.found > 0, nowMs);
    this.#capacity = seen.capacity ?? this.#capacity;
    this.#wireVersion = seen.wireVersion ?? this.#wireVersion;
    if (seen.capacity !== undefined && seen.capacity > 1) {
      this.#fill = Math.max(this.#fill, (seen.pending ?? 0) / (seen.capacity - 1));
      this.#observed = true;
    }
  }

  /** `pids`: the processes that can write the ring. */
  setWriters(pids: readonly number[], nowMs: number): void {
    const [pid] = pids;
    this.writers = pids;
    if (pid !== undefined) this.#diedMs = undefined;
    else if (this.#pid !== undefined) this.#diedMs ??= nowMs;
    if (pid !== undefined && pid !== this.#pid) this.#rhythm.settingMs = flushSettingOf(pid);
    this.#pid = pid ?? this.#pid;
  }

  /** Checks whether the known writer still runs: cheap, unlike a search for all writers. */
  checkWriter(nowMs: number): void {
    if (this.#pid !== undefined && this.#diedMs === undefined && !isRunning(this.#pid)) this.#diedMs = nowMs;
  }

  /** Returns the totals, with the highest fill since the last call. */
  totals(nowMs: number): TopAgent {
    const agent = this.#agent(nowMs);
    this.#fill = 0;
    return agent;
  }

  #agent(nowMs: number): TopAgent {
    const tally = this.#observer.tally();
    this.timeBySize = tally.timeBySize;
    const fields = fieldsOf(tally);
    const failed = tally.events.filter(({ category, count }) => category === Category.ERROR && count > 0);
    return {
      ...fields,
      id: this.#id,
      ...this.#name,
      name: oneLine(this.#name.agent),
      life: this.#life(),
      pid: this.#pid,
      errors: failed.map(({ count }) => count),
      errorStatuses: failed.map(({ type, name }) => STATUSES.get(type!) ?? name ?? `type ${type}`),
      // Registrations before the start of top are unknown.
      memoryApproximate: true,
      lost: fields.dropped,
      undrained: this.#stalls,
      lapped: this.#laps,
      suspect: this.#laps > 0,
      capacity: this.#capacity,
      fill: this.#fill,
      idleMs: Math.max(0, nowMs - (this.#lastEventMs ?? this.#openedMs)),
      flushIntervalMs: this.#rhythm.intervalMs,
      wireVersion: this.#wireVersion,
      unused: this.#unused(nowMs),
    };
  }

  /** Returns the same with what is read only when it is asked for. */
  details(nowMs: number): AgentModel {
    const uid = statSync(this.path, { throwIfNoEntry: false })?.uid;
    return { ...this.#agent(nowMs), path: this.path, ring: positionsOf(this.path), uid };
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
    return this.#diedMs !== undefined && nowMs - this.#diedMs > DEFAULT_DEAD_TTL_MS;
  }
}

const STATUSES = new Map(EVENTS.map(({ event, type }) => [type, statusOf(event)]));
