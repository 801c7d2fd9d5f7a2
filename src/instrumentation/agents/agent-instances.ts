/**
 * Numbers the agents of each process in the order in which they made their rings. Rings do not hold that order. Agents that
 * are seen for the first time in one snapshot are ordered by the birth times of their files. No two agents of a process get
 * the same number, even if one of them has ended.
 */
import type { AgentSnapshot } from '../../mapping/index.js';
import { processStart, ringBirth } from '../../shm-bridge/agent-process.js';
import { factsIn } from './kept-facts.js';

type Agent = Pick<AgentSnapshot, 'id' | 'agent' | 'directory' | 'pid' | 'keptAttributes'>;

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
    const newcomers = agents.flatMap(({ id, agent, directory, pid }) =>
      pid === undefined || this.of(id, pid) !== undefined ? [] : [{ id, pid, birth: ringBirth(directory, agent) }],
    );
    if (newcomers.length === 0) return;
    newcomers.sort(
      (a, b) => compare(a.birth.timeNs, b.birth.timeNs) || compare(a.birth.inode, b.birth.inode) || a.id - b.id,
    );
    const processes = new Map([...new Set(newcomers.map(({ pid }) => pid))].map((pid) => [pid, this.#process(pid)]));
    for (const { id, pid } of newcomers) this.#byId.set(id, { pid, instance: processes.get(pid)!.next++ });
    this.#forgetEndedProcesses();
  }

  /** Forgets all other agents. */
  keep(ids: ReadonlySet<number>): void {
    for (const id of this.#byId.keys()) if (!ids.has(id)) this.#byId.delete(id);
    this.#forgetEndedProcesses();
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

function compare(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
