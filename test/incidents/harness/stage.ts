/**
 * Real rings, which this process writes in place of agents, and the real collector, which it makes drain them: each step of virtual
 * time is a flush and a drain. Snapshots are those of the collector, with virtual times.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RingMark } from '../world/shapes.js';
import type { AgentLife, AgentSnapshot } from '../../../src/ground/tally.js';
import { DEFAULT_DEAD_TTL_MS } from '../../../src/ground/source-limits.js';
import { EVENTS } from '../../../src/mapping/events.js';
import { tallyOptions } from '../../../src/mapping/tally-options.js';
import { RingWriter } from '../../../src/shm-bridge/ring-writer.js';
import { openSource, type RingSource } from '../../../src/shm-bridge/source.js';
import type { Snapshot } from '../../../src/shm-bridge/types.js';

/** Layout of the rings of NIXL 1.5.1. */
const WIRE_VERSION = 4;
/** Time between two flushes of an agent. */
export const FLUSH_MS = 100;
/** So long that the collector's thread acts only when it is asked to. */
const DRAIN_INTERVAL_MS = 10_000;
const DRAIN_INTERVAL_OF_SERVE_MS = 20;
/** The time of an event, which rings of this layout do not hold. */
const NO_TIME = 0n;

/** What the rings do not show in virtual time. */
interface Times {
  /** Each life of an agent is a process of its own. */
  readonly pid: number;
  readonly startTimeMs: number;
  lastEventMs: number | undefined;
  endedMs: number | undefined;
  hasNewEvents: boolean;
  readonly flushMs: number;
  readonly marks: Record<RingMark, number>;
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4));

const TYPES = new Map(EVENTS.map(({ event, type }) => [event, type]));

export class Stage {
  readonly #directory = mkdtempSync(path.join(tmpdir(), 'nixl-otel-incidents-'));
  readonly #writers = new Map<string, RingWriter>();
  readonly #times = new Map<string, Times>();
  readonly #source: RingSource;
  #nowMs: number;
  #lives = 0;
  #hasNewEvents = false;
  #stalledMs: number | undefined;

  constructor(beganMs: number) {
    this.#nowMs = beganMs;
    this.#source = openSource({
      directories: [this.#directory],
      drainIntervalMs: DRAIN_INTERVAL_MS,
      tally: tallyOptions(),
    });
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  setTime(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  /** Starts an agent, or starts it anew in the file that it had. */
  begin(agent: string, flushS = FLUSH_MS / 1000): void {
    this.#writers.get(agent)?.close();
    this.#writers.set(agent, new RingWriter(path.join(this.#directory, agent), { wireVersion: WIRE_VERSION }));
    const startTimeMs = this.#times.get(agent)?.startTimeMs ?? this.#nowMs;
    this.#times.set(agent, {
      pid: ++this.#lives,
      startTimeMs,
      lastEventMs: undefined,
      endedMs: undefined,
      hasNewEvents: false,
      flushMs: flushS * 1000,
      marks: { full: 0, foreign: 0, shared: 0, unfollowed: 0 },
    });
    this.#source.drainNow();
  }

  /** @throws Error for an unknown event */
  write(agent: string, event: string, value: number): void {
    const type = TYPES.get(event);
    if (type === undefined) throw new Error(`${event} is not an event of NIXL`);
    const writer = this.#writers.get(agent)!;
    const slot = { type, value, timestampUs: NO_TIME };
    if (!writer.push(slot) && this.#stalledMs === undefined) {
      this.#drain(); // a flush that is larger than the ring
      writer.push(slot);
    }
    this.#times.get(agent)!.hasNewEvents = true;
    this.#hasNewEvents = true;
  }

  /** Counts what the collector finds once more: `full` is a flush for which the ring had no room. */
  mark(agent: string, mark: RingMark): void {
    this.#times.get(agent)!.marks[mark]++;
  }

  /** Lets the agent's process end. */
  end(agent: string): void {
    this.#times.get(agent)!.endedMs ??= this.#nowMs;
  }

  has(agent: string): boolean {
    return this.#times.has(agent);
  }

  isAlive(agent: string): boolean {
    const times = this.#times.get(agent);
    return times !== undefined && times.endedMs === undefined;
  }

  /** Lets this time pass without a drain. */
  stall(nowMs: number): void {
    this.#stalledMs ??= this.#nowMs;
    this.#nowMs = nowMs;
  }

  /** Makes what was written a flush at this time, and drains it. */
  flush(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#stalledMs = undefined;
    if (!this.#hasNewEvents) return;
    this.#drain();
    this.#hasNewEvents = false;
    for (const times of this.#times.values()) {
      if (times.hasNewEvents) times.lastEventMs = nowMs;
      times.hasNewEvents = false;
    }
  }

  snapshot(): Snapshot {
    const snapshot = this.#source.snapshot({ exponential: true, sizeClasses: true });
    return {
      ...snapshot,
      takenMs: this.#nowMs,
      agents: snapshot.agents.filter((agent) => this.#isKept(agent)).map((agent) => this.#inVirtualTime(agent)),
      collector: {
        ...snapshot.collector,
        drainIntervalMs: DRAIN_INTERVAL_OF_SERVE_MS,
        maxLagMs: 0,
        sinceTickMs: this.#nowMs - (this.#stalledMs ?? this.#nowMs),
      },
    };
  }

  close(): void {
    this.#source.close();
    for (const writer of this.#writers.values()) writer.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** A machine that is busy with other work may hold up the collector's thread for seconds. */
  #drain(): void {
    this.#source.drainNow();
    for (const [agent, { hasNewEvents }] of this.#times) {
      if (!hasNewEvents) continue;
      const writer = this.#writers.get(agent)!;
      for (; writer.pending > 0; this.#source.drainNow()) Atomics.wait(PAUSE, 0, 0, 1);
    }
  }

  #isKept({ agent }: AgentSnapshot): boolean {
    const { endedMs = this.#nowMs } = this.#times.get(agent)!;
    return this.#nowMs - endedMs <= DEFAULT_DEAD_TTL_MS;
  }

  #inVirtualTime(agent: AgentSnapshot): AgentSnapshot {
    const { pid, startTimeMs, lastEventMs, endedMs, flushMs, marks } = this.#times.get(agent.agent)!;
    const life: AgentLife = endedMs === undefined ? 'alive' : 'dead';
    return {
      ...agent,
      life,
      pid: life === 'alive' ? pid : undefined,
      searched: true,
      exported: true,
      startTimeMs,
      lastEventMs,
      flushIntervalMs: flushMs,
      foundFull: agent.foundFull + marks.full,
      foundFullMs: marks.full * DRAIN_INTERVAL_OF_SERVE_MS,
      foreignMoves: agent.foreignMoves + marks.foreign,
      shared: agent.shared || marks.shared > 0,
      suspect: agent.suspect || marks.foreign + marks.shared + marks.unfollowed > 0,
    };
  }
}
