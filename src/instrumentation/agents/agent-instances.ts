/**
 * Numbers the agents of each process in the order in which they made their rings. A ring does not hold that order: the
 * birth times of the files do, among agents that were first seen together. A number is never given to another agent.
 */
import type { AgentReading } from '../../mapping/index.js';
import { processStart, ringBirth } from '../../shm-bridge/agent-process.js';

type Agent = Pick<AgentReading, 'id' | 'agent' | 'directory' | 'pid'>;

interface Process {
  /** Tells it from an earlier process with the same number. */
  readonly start: string | undefined;
  next: number;
  /** By AgentReading.id. */
  readonly instances: Map<number, number>;
}

export class AgentInstances {
  readonly #byPid = new Map<number, Process>();

  of(id: number, pid: number): number | undefined {
    return this.#byPid.get(pid)?.instances.get(id);
  }

  /** Numbers those that have none. All agents of a snapshot at once: it is their order that counts. */
  number(agents: readonly Agent[]): void {
    const newcomers = agents.flatMap(({ id, agent, directory, pid }) =>
      pid === undefined || this.of(id, pid) !== undefined ? [] : [{ id, pid, birth: ringBirth(directory, agent) }],
    );
    if (newcomers.length === 0) return;
    newcomers.sort(
      (a, b) => compare(a.birth.timeNs, b.birth.timeNs) || compare(a.birth.inode, b.birth.inode) || a.id - b.id,
    );
    const processes = new Map([...new Set(newcomers.map(({ pid }) => pid))].map((pid) => [pid, this.#process(pid)]));
    for (const { id, pid } of newcomers) {
      const process = processes.get(pid)!;
      process.instances.set(id, process.next++);
    }
  }

  /** Forgets agents that are gone. A process that goes on keeps its count: its next agent is not another's successor. */
  keep(ids: ReadonlySet<number>): void {
    for (const [pid, { start, instances }] of this.#byPid) {
      for (const id of instances.keys()) if (!ids.has(id)) instances.delete(id);
      if (instances.size === 0 && (start === undefined || processStart(pid) !== start)) this.#byPid.delete(pid);
    }
  }

  #process(pid: number): Process {
    const start = processStart(pid);
    let process = this.#byPid.get(pid);
    if (process === undefined || process.start !== start) {
      this.#byPid.set(pid, (process = { start, next: 0, instances: new Map() }));
    }
    return process;
  }
}

function compare(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
