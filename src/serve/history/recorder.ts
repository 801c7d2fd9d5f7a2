/**
 * Takes samples of all agents: when the figures are asked for, at most twice a second, otherwise every five seconds. It keeps ten
 * minutes of history, the recent troubles, and ends of agents.
 */
import { reasonOf } from '../../ground/errors.js';
import type { CustomError } from '../../mapping/custom-events.js';
import { KeptSnapshot } from '../../shm-bridge/kept-snapshot.js';
import type { Snapshot } from '../../shm-bridge/types.js';
import type { AgentSnapshot } from '../../ground/tally.js';
import { TimeSlices } from '../../ground/time-slices.js';
import type { ServedAgent, Troubles } from '../../view/model/agent-model.js';
import { modelsOf, ErrorStatuses } from '../../view/model/from-snapshot.js';
import { EndWatch } from '../../view/verdict/end-watch.js';
import { MemoryWatch } from '../../view/verdict/memory-watch.js';
import { QuietWatch } from '../../view/verdict/quiet-watch.js';
import { TroubleWatch, type WatchedAgent } from '../../view/verdict/trouble-watch.js';
import { OTHERS } from '../../view/answers/answer.js';
import { EndedAgents } from './ended-agents.js';
import { AgentHistory } from './agent-history.js';
import { EventHistory } from './event-history.js';
import { FleetHistory } from './fleet-history.js';
import type { KeptHistory } from './kept-history.js';
import { RecentTimes } from './recent-times.js';

/** Limits snapshots of the rings, however many clients ask. */
const SAME_SAMPLE_MS = 500;
/** Time between two samples without requests. */
export const SAMPLE_MS = 5000;

/** Returns the totals so far, in the snapshot to update if there is one; undefined after the source is closed. */
type Peek = (wants?: Kept) => Snapshot | undefined;
type Kept = { readonly kept: KeptSnapshot };

export interface Peeks {
  readonly peek: Peek;
  /** The same with turns for other work. */
  readonly peekInSlices: (slices: TimeSlices, wants: Kept) => Promise<Snapshot | undefined>;
}

/** Figures of all agents at one time. */
export interface HistorySample {
  readonly snapshot: Snapshot;
  /** The exported agents, then those that ended and are no longer exported. */
  readonly agents: readonly ServedAgent[];
  readonly troubles: ReadonlyMap<number | string, Troubles>;
}

/** Samples since the first one, or since the clock was set back. */
class Recording {
  readonly fleet: FleetHistory;
  readonly agents = new AgentHistory();
  readonly events = new EventHistory();
  readonly recent = new RecentTimes();
  readonly ends: EndWatch<number>;
  readonly ended = new EndedAgents();
  readonly quiet = new QuietWatch<number>();
  readonly memory = new MemoryWatch<number>();
  readonly troubles: TroubleWatch;

  constructor(statuses: readonly string[], beganMs: number, endedKeptMs: number | undefined) {
    // The source drops an agent only after its end, unless its life is unknown.
    this.ends = new EndWatch(endedKeptMs, true);
    this.fleet = new FleetHistory(statuses.length);
    this.troubles = new TroubleWatch(statuses, beganMs);
  }
}

interface RecorderOptions extends Peeks {
  readonly customErrors: readonly CustomError[];
  /** All that happened since then is recent. */
  readonly beganMs: number;
  /** Time for which ended agents are kept. */
  readonly endedKeptMs?: number | undefined;
  /** Called if a sample without a request fails, or its history: it must not end the process. */
  readonly onFailure: (reason: string) => void;
  /** Called in a turn of its own after each sample that was recorded. */
  readonly onRecorded?: (sample: HistorySample) => void;
  /** Replacement in tests. */
  readonly later?: (work: () => void) => unknown;
}

export class Recorder {
  readonly statuses: ErrorStatuses;
  readonly #peeks: Peeks;
  readonly #newRecord: () => Recording;
  readonly #onRecorded: (sample: HistorySample) => void;
  /** Does work in a later turn of the event loop: with hundreds of agents each part takes milliseconds. */
  readonly #later: (work: () => void) => void;
  readonly #timer: NodeJS.Timeout;
  /** Snapshot of samples without requests: a new one each time would cost more than all else that an idle serve does. */
  readonly #kept = new KeptSnapshot();
  /** Figures of the last sample without a request. */
  #keptFigures: Figures | undefined;
  #all: (Watched & { readonly exported: readonly ServedAgent[]; readonly ended: readonly ServedAgent[] }) | undefined;
  #record: Recording;
  #sample: HistorySample | undefined;
  #isTaking = false;
  #sampledMs = -Infinity;
  /** The last one that was recorded. */
  #added: HistorySample | undefined;

  constructor(options: RecorderOptions) {
    const { peek, peekInSlices, customErrors, beganMs, endedKeptMs, onFailure } = options;
    const { onRecorded = () => {}, later = setImmediate } = options;
    this.statuses = new ErrorStatuses(customErrors);
    this.#peeks = { peek, peekInSlices };
    this.#newRecord = () => new Recording(this.statuses.names, beganMs, endedKeptMs);
    this.#record = this.#newRecord();
    this.#onRecorded = onRecorded;
    const guarded = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        onFailure(reasonOf(error));
      }
    };
    this.#later = (work) => void later(() => guarded(work));
    guarded(() => this.#add(peek({ kept: this.#kept })));
    const take = (): void => void this.take().catch((error: unknown) => onFailure(reasonOf(error)));
    this.#timer = setInterval(take, SAMPLE_MS).unref();
  }

  get record(): Readonly<Recording> {
    return this.#record;
  }

  /**
   * Takes the history of an earlier process. It must be called for the first recorded sample. Times after that sample are of a
   * clock that was set back since.
   */
  restore(kept: KeptHistory, { snapshot, agents }: HistorySample): void {
    const takenMs = Math.floor(snapshot.takenMs);
    if (kept.keptMs > takenMs) return;
    const { fleet, events, agents: points } = this.#record;
    const ids = new Map(agents.map(({ name, id }) => [name, id]));
    const own = kept.agents.flatMap(({ name, ...columns }) => {
      const id = ids.get(name);
      return id === undefined ? [] : [[id, columns] as const];
    });
    fleet.restore(kept, this.statuses.names, takenMs);
    points.restore(kept.agentTimesMs, new Map(own), takenMs);
    const named = kept.events.map((event) => ({ ...event, id: ids.get(event.name) ?? OTHERS }));
    events.restore(named, [...kept.blindSpans, { fromMs: kept.keptMs, toMs: takenMs }]);
  }

  /** Returns figures that are at most half a second old; undefined after the rings are closed. */
  sample(sameForMs = SAME_SAMPLE_MS): HistorySample | undefined {
    if (performance.now() - this.#sampledMs <= sameForMs) return this.#sample;
    const snapshot = this.#peeks.peek();
    this.#sampledMs = performance.now();
    this.#sample = this.#add(snapshot);
    return this.#sample;
  }

  /** Takes a sample without a request, unless one took it lately or does so meanwhile. */
  async take(): Promise<void> {
    if (this.#isTaking) return;
    const isRecent = performance.now() - this.#sampledMs <= SAMPLE_MS / 2;
    this.#forget();
    if (isRecent) return;
    this.#isTaking = true;
    try {
      const snapshot = await this.#peeks.peekInSlices(new TimeSlices(), { kept: this.#kept });
      if (this.#sample === undefined) this.#add(snapshot);
    } finally {
      this.#isTaking = false;
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Without requests, only the history needs memory. */
  #forget(): void {
    this.#sample = undefined;
    this.#sampledMs = -Infinity;
  }

  #add(snapshot: Snapshot | undefined): HistorySample | undefined {
    if (snapshot === undefined) return undefined;
    const { collector } = snapshot;
    const last = this.#added?.snapshot;
    if (last !== undefined && snapshot.takenMs <= last.takenMs) {
      // A blocked collector repeats a snapshot, which may be older than the last one recorded.
      if (collector.ticks <= last.collector.ticks) return { ...this.#added!, snapshot: { ...last, collector } };
      // The clock was set back.
      if (snapshot.takenMs < last.takenMs) this.#record = this.#newRecord();
    }
    const takenMs = Math.floor(snapshot.takenMs); // of points, which a question names
    const { agents, watched } = this.#figuresOf(snapshot);
    const { fleet, events, recent, ends, ended, quiet, memory, troubles, ...record } = this.#record;
    recent.take(takenMs, agents);
    this.#later(() => {
      fleet.add(takenMs, agents);
      this.#later(() => record.agents.add(takenMs, agents, (agent) => recent.of(agent, 'transferTimesUs')));
    });
    events.add(takenMs, agents, ends.observe(takenMs, agents));
    quiet.observe(takenMs, agents);
    memory.observe(takenMs, agents);
    const all = this.#withEnded({ agents, watched }, ended.take(agents, ends));
    const sample = { snapshot, agents: all.agents, troubles: troubles.observe(takenMs, all.watched) };
    this.#later(() => this.#onRecorded(sample));
    return (this.#added = sample);
  }

  /** Returns the same arrays as long as nothing changes: the watch of troubles looks for that. */
  #withEnded(exported: Watched, ended: readonly ServedAgent[]): Watched {
    if (ended.length === 0) return exported;
    if (this.#all?.exported !== exported.agents || this.#all.ended !== ended) {
      const agents = [...exported.agents, ...ended];
      // Losses of an ended agent are no finding any more, its errors are.
      const errors = ended.map(({ id, startTimeMs, errors }) => ({ id, startTimeMs, counts: { errors } }));
      const watched = [...exported.watched, ...errors];
      this.#all = { exported: exported.agents, ended, agents, watched };
    }
    return this.#all;
  }

  #figuresOf({ agents: tallies }: Snapshot): Figures {
    if (tallies === this.#keptFigures?.tallies) return this.#keptFigures;
    const exported = tallies.filter((agent) => agent.exported);
    const agents = modelsOf(exported, this.statuses);
    const figures = { tallies, agents, watched: agents.map((agent, i) => watched(agent, exported[i]!)) };
    if (tallies === this.#kept.last?.agents) this.#keptFigures = figures;
    return figures;
  }
}

interface Watched {
  readonly agents: readonly ServedAgent[];
  readonly watched: readonly WatchedAgent[];
}

/** Figures of the agents in a sample. Those of a kept snapshot stay the same arrays until one of the agents changes. */
interface Figures extends Watched {
  readonly tallies: readonly AgentSnapshot[];
}

function watched(agent: ServedAgent, { foreignMoves, suspect, shared }: AgentSnapshot): WatchedAgent {
  const { id, startTimeMs, foundFull: full, dropped, lost, errors } = agent;
  // The flag has three causes, and only the other two are told.
  const unfollowed = suspect && foreignMoves === 0 && !shared ? 1 : 0;
  const others = { foreign: foreignMoves, unfollowed, shared: shared ? 1 : 0 };
  return { id, startTimeMs, counts: { full, dropped, lost, written: agent.events + lost, ...others, errors } };
}
