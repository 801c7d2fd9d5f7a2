/** Facts about the processes of agents, read once for each process. */
import { statSync } from 'node:fs';
import { readAgentProcess } from '../../shm-bridge/agent-process.js';
import type { ServedAgent } from '../../view/model/agent-model.js';

/** Processes that one answer reads at most: each takes some system calls. Later answers read the others. */
const MOST_READ = 16;
const GPUS = 'CUDA_VISIBLE_DEVICES';

/** Fields are undefined if this user may not read the process, or if it does not have them. */
export type AgentProcessFacts = Pick<ServedAgent, 'uid' | 'rank' | 'gpus' | 'gpuModels'>;

interface Known {
  readonly pid: number;
  readonly facts: AgentProcessFacts;
}

const NONE: AgentProcessFacts = {};

export class AgentProcesses {
  readonly #rankVariable: string;
  #known = new Map<number, Known>();

  constructor(rankVariable: string) {
    this.#rankVariable = rankVariable;
  }

  /** Reads some of the processes that are not known, and forgets those of other agents. */
  refresh(agents: readonly ServedAgent[]): void {
    const known = new Map<number, Known>();
    let read = 0;
    for (const { id, pid } of agents) {
      const before = this.#known.get(id);
      // An ended process keeps its facts.
      if (before !== undefined && (pid === undefined || pid === before.pid)) known.set(id, before);
      else if (pid !== undefined && read++ < MOST_READ) known.set(id, { pid, facts: this.#read(pid) });
    }
    this.#known = known;
  }

  of(id: number): AgentProcessFacts {
    return this.#known.get(id)?.facts ?? NONE;
  }

  #read(pid: number): AgentProcessFacts {
    // An ended process has no entry.
    const uid = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
    const { environment = {}, gpus: gpuModels } = readAgentProcess(pid, [this.#rankVariable, GPUS]) ?? {};
    return { uid, rank: environment[this.#rankVariable], gpus: environment[GPUS], gpuModels };
  }
}
