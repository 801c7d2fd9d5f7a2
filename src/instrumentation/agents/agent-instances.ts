/**
 * Numbers the agents of each process in the order in which they made their rings. Rings do not hold that order. Agents that
 * are seen for the first time in one snapshot are ordered by the birth times of their files. An agent waits for its number while
 * the process of an older ring may still be found. No two agents of a process get the same number, even if one of them has
 * ended.
 */
import type { AgentSnapshot } from '../../mapping/index.js';
import { madeOnce } from '../../ground/maps.js';
import { processStart, ringBirth } from '../../shm-bridge/agent-process.js';
import { factsIn } from './kept-facts.js';

type Agent = Pick<AgentSnapshot, 'id' | 'agent' | 'directory' | 'pid' | 'searched' | 'keptAttributes'>;

/** Birth of a ring. A pid that is undefined may still be found. */
interface Born {
  readonly id: number;
  readonly pid: number | undefined;
  readonly birth: ReturnType<typeof ringBirth>;
}

interface Process {
  /** Start time: distinguishes it from an earlier process with the same pid. */
  readonly start: string | undefined;
  next: number;
}

export class AgentInstances {
  /** By AgentSnapshot.id. */
  readonly #byId = new Map<number, { readonly pid: number; readonly instance: number }>();
  readonly #byPid = new Map<number, Process>();

  of(id: number, pid: number): number | undefined {
    const known = this.#byId.get(id);
    return known?.pid === pid ? known.instance : undefined;
  }

  /** Numbers the agents that have no number in their process yet. Needs all agents of a snapshot, to order them. */
  number(agents: readonly Agent[]): void {
    this.#continueKept(agents);
    const newcomers = agents.filter((agent) => !this.#isSettled(agent));
    if (newcomers.every(({ pid }) => pid === undefined)) return;
    const born = newcomers.map(({ id, pid, agent, directory }) => ({ id, pid, birth: ringBirth(directory, agent) }));
    born.sort(byBirth);
    const processes = new Map<number, Process>();
    for (const { id, pid } of born) {
      if (pid === undefined) break;
      this.#byId.set(id, { pid, instance: madeOnce(processes, pid, () => this.#process(pid)).next++ });
    }
    this.#forgetEndedProcesses();
  }

  /** Forgets all other agents. */
  keep(ids: ReadonlySet<number>): void {
    for (const id of this.#byId.keys()) if (!ids.has(id)) this.#byId.delete(id);
    this.#forgetEndedProcesses();
  }

  /** Returns true if the agent has a number, or if no search will find its process soon. */
  #isSettled({ id, pid, searched }: Agent): boolean {
    return pid === undefined ? searched : this.of(id, pid) !== undefined;
  }

  /** Gives agents the numbers that they had in an earlier process of serve, if their own process is still the same. */
  #continueKept(agents: readonly Agent[]): void {
    for (const { id, pid, keptAttributes } of agents) {
      if (pid === undefined || keptAttributes === undefined || this.of(id, pid) !== undefined) continue;
      const kept = factsIn(keptAttributes);
      if (kept?.instance === undefined || kept.pid !== pid) continue;
      const process = this.#process(pid);
      if (process.start === undefined || process.start !== kept.start) continue;
      this.#byId.set(id, { pid, instance: kept.instance });
      process.next = Math.max(process.next, kept.instance + 1);
    }
  }

  #process(pid: number): Process {
    const start = processStart(pid);
    let process = this.#byPid.get(pid);
    if (process === undefined || process.start !== start) this.#byPid.set(pid, (process = { start, next: 0 }));
    return process;
  }

  /** A running process without agents keeps its counter. */
  #forgetEndedProcesses(): void {
    const withAgents = new Set([...this.#byId.values()].map(({ pid }) => pid));
    for (const [pid, { start }] of this.#byPid) {
      if (withAgents.has(pid)) continue;
      if (start === undefined || processStart(pid) !== start) this.#byPid.delete(pid);
    }
  }
}

function byBirth(a: Born, b: Born): number {
  return compare(a.birth.timeNs, b.birth.timeNs) || compare(a.birth.inode, b.birth.inode) || a.id - b.id;
}

function compare(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
