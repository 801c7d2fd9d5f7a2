/** Watches the agents of a run: what only a process can tell that saw them while they lived. */
import { AgentProcesses } from '../../serve/api/agent-processes.js';
import type { AgentLife, AgentSnapshot } from '../../ground/tally.js';
import type { WatchedFacts } from '../../report/build-report.js';
import { type RunSlice, RunSlices } from '../../comparison/run-slices.js';
import { errorsOf, requestsOf, type ServedAgent } from '../../view/model/agent-model.js';
import { ErrorStatuses, modelsOf } from '../../view/model/from-snapshot.js';
import { isRunning } from '../../shm-bridge/agent-process.js';
import type { RingSource } from '../../shm-bridge/source.js';
import type { Snapshot } from '../../shm-bridge/types.js';
import { EventTaps } from './event-taps.js';
import { MappedRings } from './mapped-rings.js';
import { ringWriters } from './ring-writers.js';
import { RunLine } from './run-line.js';

const SAMPLE_INTERVAL_MS = 50;
/** Samples between two slices: time by size takes several times as long as the rest of a sample. */
const SAMPLES_OF_SLICE = 4;
const RANK_VARIABLE = 'LOCAL_RANK';

interface AgentOfRun {
  readonly path: string;
  pid?: number | undefined;
  life: AgentLife;
  /** Time of the event after which it rested for so long that it had nothing staged. */
  restedAfterMs?: number;
  /** First sample in which it had ended. */
  endedMs?: number;
  restarts: number;
}

export class RunWatch {
  readonly line: RunLine;
  readonly #source: RingSource;
  readonly #flushIntervalMs: number;
  readonly #statuses = new ErrorStatuses([]);
  readonly #processes = new AgentProcesses(RANK_VARIABLE);
  readonly #agents = new Map<number, AgentOfRun>();
  readonly #taps: EventTaps;
  readonly #slices = new RunSlices();
  readonly #mapped = new MappedRings();
  #samples = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: RingSource, beginMs: number, flushIntervalMs: number) {
    this.#source = source;
    this.#flushIntervalMs = flushIntervalMs;
    this.line = new RunLine(beginMs, SAMPLE_INTERVAL_MS);
    this.#taps = new EventTaps(source);
  }

  begin(): void {
    this.#timer = setInterval(() => {
      this.sample();
      if (++this.#samples % SAMPLES_OF_SLICE === 0) this.takeSlice(this.#source.snapshot({ sizeClasses: true }));
    }, SAMPLE_INTERVAL_MS);
  }

  takeSlice({ takenMs, agents }: Snapshot): void {
    this.#slices.take(Math.round(takenMs), agents);
  }

  get slices(): readonly RunSlice[] {
    return this.#slices.all;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  sample(): void {
    const snapshot = this.#source.snapshot({ exponential: false });
    this.#taps.take();
    const models = modelsOf(snapshot.agents, this.#statuses);
    for (const agent of snapshot.agents) this.#note(agent, snapshot);
    this.#processes.refresh(models);
    this.line.add(
      snapshot.takenMs,
      models.map((model) => [model.id, valuesOf(model)] as const),
    );
  }

  /** Searches the processes of agents that have none yet: those of a short run end before the collector sees them. */
  settle(): void {
    const unknown = [...this.#agents.values()].filter(({ life }) => life === 'unknown');
    const writers = ringWriters(unknown.map(({ path }) => path));
    for (const [i, agent] of unknown.entries()) {
      const writer = writers[i];
      if (writer === 'none') agent.life = 'dead';
      else if (writer !== undefined) Object.assign(agent, { life: 'alive', pid: writer });
    }
  }

  /** As of the last sample. */
  lives(): readonly AgentLife[] {
    return Array.from(this.#agents.values(), ({ life }) => life);
  }

  of(agent: AgentSnapshot): WatchedFacts {
    const { id, lastEventMs } = agent;
    const { life = 'unknown', pid, restedAfterMs, endedMs } = this.#agents.get(id) ?? {};
    const { rank, gpus } = this.#processes.of(id);
    const hasRested = restedAfterMs === lastEventMs;
    return {
      life,
      pid,
      endedMs,
      rank,
      gpus,
      ...this.#taps.of(agent),
      ...(life !== 'alive' && !hasRested && { mayMissMs: this.#flushIntervalMs }),
      line: this.line.of(id),
    };
  }

  #note({ id, path, life, pid, restarts, memoryInUse, lastEventMs }: AgentSnapshot, { takenMs }: Snapshot): void {
    let agent = this.#agents.get(id);
    if (agent === undefined) this.#agents.set(id, (agent = { path, life, restarts }));
    if (pid !== undefined) agent.pid = pid;
    if (life !== 'unknown') agent.life = life;
    if (agent.life === 'alive' && agent.pid !== undefined) {
      // The collector's search for processes may be half a second old.
      if (!isRunning(agent.pid)) agent.life = 'dead';
      else if (lastEventMs !== undefined && takenMs - lastEventMs > 2 * this.#flushIntervalMs) {
        const isKnown = agent.restedAfterMs === lastEventMs;
        if (!isKnown && this.#mapped.has(agent.pid, path)) agent.restedAfterMs = lastEventMs;
      }
    }
    if (agent.life === 'dead') agent.endedMs ??= takenMs;
    else delete agent.endedMs;
    if (restarts > agent.restarts) this.#taps.peaks.set(id, Number(memoryInUse));
    agent.restarts = restarts;
  }
}

function valuesOf(model: ServedAgent) {
  const { txBytes, rxBytes, memoryBytes } = model;
  return { txBytes, rxBytes, transfers: requestsOf(model), errors: errorsOf(model), memoryBytes };
}
