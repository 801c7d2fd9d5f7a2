/** Watches time by size: judges it, and keeps the last minute of all agents of a source with the model of each direction. */
import type { AgentSnapshot, TimeModelNumbers, TimeModels } from '../../ground/tally.js';
import { TimeSlices } from '../../ground/time-slices.js';
import type { Snapshot, SnapshotWants } from '../../shm-bridge/index.js';
import { KeptSnapshot } from '../../shm-bridge/kept-snapshot.js';
import { postingOf } from '../../view/sizes/size-figures.js';
import { type RecentSizes, KEEP_MS, SizeWindow } from '../../view/sizes/size-window.js';
import { timeLineOf } from '../../view/sizes/time-line.js';
import type { Slowdowns } from '../../view/slowness/direction-judge.js';
import { SlownessJudge } from '../../view/slowness/slowness-judge.js';
import { namesOf } from './agent-names.js';
import { SlowListeners } from './slow-listeners.js';

/** Time between two judgements. */
const JUDGE_MS = 4000;

/** Returns undefined after the source is closed. */
type PeekInSlices = (slices: TimeSlices, wants: SnapshotWants) => Promise<Snapshot | undefined>;

/** Time by size at one time. Its agents are valid until the use of it ends. */
export interface SizeReading {
  /** Never earlier than before, whatever the clock does. */
  readonly takenMs: number;
  readonly snapshot: Pick<Snapshot, 'takenMs' | 'collector'>;
  /** Span of the window. */
  readonly recentMs: number;
  /** The exported agents. */
  readonly agents: readonly AgentSnapshot[];
  readonly recentOf: (agent: AgentSnapshot) => RecentSizes;
  /** Returns what is usual for an agent, if it is judged. */
  readonly usualOf: SlownessJudge['usualOf'];
}

export class SizeWatch {
  readonly #peekInSlices: PeekInSlices;
  readonly #window = new SizeWindow();
  readonly #kept = new KeptSnapshot();
  /** Returns what agents that do the same work have in common: the ranks of an instance. */
  groupOf: (agent: AgentSnapshot) => string | undefined = () => undefined;
  /** Judges every four seconds. */
  readonly judge = new SlownessJudge();
  readonly listeners: SlowListeners;
  readonly #timer: NodeJS.Timeout;
  /** Readings share memory: each waits for the use of the one before. */
  #last: Promise<unknown> = Promise.resolve();
  #takenMs = -Infinity;
  #models: ReadonlyMap<number, TimeModels> = new Map();
  #modelledMs = -Infinity;
  #ticks = -1;

  /** `onFailure`: called if a reading without a request fails, or a listener. Begins with a reading. */
  constructor(peekInSlices: PeekInSlices, onFailure: (error: unknown) => void) {
    this.#peekInSlices = peekInSlices;
    this.listeners = new SlowListeners(onFailure);
    const watch = (): void => void this.read((...args) => this.#watch(...args)).catch(onFailure);
    watch();
    this.#timer = setInterval(watch, JUDGE_MS).unref();
  }

  /** Reads all agents. Resolves to undefined after the source is closed. */
  read<T>(use: (reading: SizeReading, slices: TimeSlices) => Promise<T>): Promise<T | undefined> {
    const reading = this.#last.then(() => this.#read(use));
    this.#last = reading.catch(() => {});
    return reading;
  }

  async #read<T>(use: (reading: SizeReading, slices: TimeSlices) => Promise<T>): Promise<T | undefined> {
    const slices = new TimeSlices();
    const snapshot = await this.#peekInSlices(slices, { exponential: false, sizeClasses: true, kept: this.#kept });
    if (snapshot === undefined) return undefined;
    // A blocked collector repeats a snapshot, and the clock may be set back: the window goes on with the time that it has.
    const takenMs = (this.#takenMs = Math.max(this.#takenMs, snapshot.takenMs));
    // While the collector's thread is blocked, the first snapshot may be one without time by size.
    const agents = snapshot.agents.filter(({ exported, timeBySize }) => exported && timeBySize !== undefined);
    const recentOf = (agent: AgentSnapshot): RecentSizes => this.#window.recentOf(agent, takenMs);
    this.#window.take(takenMs, agents);
    const usualOf: SizeReading['usualOf'] = (id) => this.judge.usualOf(id);
    return use({ takenMs, snapshot, recentMs: this.#window.spanAt(takenMs), agents, recentOf, usualOf }, slices);
  }

  /** Models of the agents by id, at most 20 s old. */
  get models(): ReadonlyMap<number, TimeModels> {
    return this.#models;
  }

  async #watch(reading: SizeReading, slices: TimeSlices): Promise<void> {
    const { takenMs, agents, snapshot } = reading;
    // A blocked collector repeats a snapshot.
    if (snapshot.collector.ticks > this.#ticks) {
      this.#ticks = snapshot.collector.ticks;
      const nameOf = namesOf(agents);
      const judged = agents.map((agent) => ({
        ...{ id: agent.id, name: nameOf(agent), place: agent.path },
        ...{ group: this.groupOf(agent), timeBySize: agent.timeBySize },
      }));
      this.judge.take(snapshot.takenMs, judged);
      this.listeners.take(snapshot.takenMs, this.judge.facts);
    }
    // A timer may fire a little earlier than its interval.
    if (takenMs - this.#modelledMs < KEEP_MS - JUDGE_MS / 2) return;
    this.#modelledMs = takenMs;
    await this.#updateModels(reading, slices);
  }

  async #updateModels({ agents, recentOf }: SizeReading, slices: TimeSlices): Promise<void> {
    const models = new Map<number, TimeModels>();
    for (const agent of agents) {
      const { transmit, receive } = recentOf(agent);
      const slowdowns = this.judge.slowdownsOf(agent.id);
      models.set(agent.id, {
        ...numbersOf('transmit', transmit, slowdowns?.transmit),
        ...numbersOf('receive', receive, slowdowns?.receive),
      });
      const pause = slices.turn();
      if (pause !== undefined) await pause;
    }
    this.#models = models;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function numbersOf(direction: keyof TimeModels, recent: RecentSizes['transmit'], slowdowns?: Slowdowns): TimeModels {
  if (recent.length === 0) return {};
  const model = timeLineOf(recent);
  const { baseUs, bytesPerSecond } = model.kind === 'line' ? model : NO_LINE;
  const numbers: TimeModelNumbers = { baseUs, bytesPerSecond, postShare: postingOf(recent)?.share, ...slowdowns };
  return { [direction]: numbers };
}

const NO_LINE = { baseUs: undefined, bytesPerSecond: undefined };
