/** Engine, instance and ranks of each agent, read once or twice in the life of its process and not once per collect. */
import type { ContainerIdentity, EngineIdentity } from '../../engines/engine-identity.js';
import { ENGINE_VARIABLES } from '../../engines/engine-rows.js';
import type { EngineTable } from '../../engines/identify.js';
import type { TimeSlices } from '../../ground/time-slices.js';
import type { AgentSnapshot } from '../../mapping/index.js';
import { namesOfContainer } from '../../shm-bridge/container-links.js';
import { LineageReader } from '../../shm-bridge/lineage.js';
import { readContainer } from '../../shm-bridge/process-identity.js';
import { missingSights } from '../../shm-bridge/process-sight.js';

/** The kubelet's place, on each node. */
const DEFAULT_CONTAINER_LOGS = '/var/log/containers';
/** An engine may name its processes after it has made its agents: they are read once more after this time. */
const AGAIN_MS = 30_000;
/** Time for which processes that were read count for other agents, too. */
const MOMENT_MS = 1000;
/** An identity that nobody asks for is kept for this time: that of an ended agent cannot be read again. */
const UNUSED_MS = 3_600_000;

export type IdentifiedAgent = Pick<AgentSnapshot, 'id' | 'agent' | 'life'> & { readonly pid?: number | undefined };

interface Known {
  readonly pid: number | undefined;
  readonly life: AgentSnapshot['life'];
  readonly identity: EngineIdentity;
  /** Time of the second reading; Infinity if there is none to come. */
  readonly againMs: number;
  usedMs: number;
}

interface AgentIdentitiesOptions {
  readonly table: EngineTable;
  /** Directory of the links that the kubelet makes to logs of containers. */
  readonly containerLogs?: string | undefined;
  /** Replacements in tests. */
  readonly now?: () => number;
  readonly procDir?: string;
  readonly look?: typeof missingSights;
}

export class AgentIdentities {
  readonly #table: EngineTable;
  readonly #containerLogs: string;
  readonly #now: () => number;
  readonly #procDir: string;
  readonly #look: typeof missingSights;
  readonly #byId = new Map<number, Known>();
  #sweptMs = -Infinity;
  #reader: { readonly lineages: LineageReader; readonly ms: number } | undefined;
  #unseen: { readonly why: string; readonly ms: number } | undefined;

  constructor({
    table,
    containerLogs = DEFAULT_CONTAINER_LOGS,
    now = () => performance.now(),
    procDir = '/proc',
    look = missingSights,
  }: AgentIdentitiesOptions) {
    this.#table = table;
    this.#containerLogs = containerLogs;
    this.#now = now;
    this.#procDir = procDir;
    this.#look = look;
  }

  /** Returns the same object as long as nothing changes. An agent keeps its identity after the end of its process. */
  of(agent: IdentifiedAgent): EngineIdentity {
    const now = this.#now();
    this.#sweep(now);
    const { id, pid, life } = agent;
    const before = this.#byId.get(id);
    if (before !== undefined) {
      before.usedMs = now;
      if (before.pid !== undefined && (pid === undefined || life === 'dead')) return before.identity;
      if (before.pid === pid && before.life === life && now < before.againMs) return before.identity;
    }
    const read = this.#read(agent);
    // A second look that finds nothing came after the end of the process.
    const identity = read === undefined || isSame(before?.identity, read) ? before!.identity : read;
    const isSecond = before !== undefined && before.pid === pid;
    const againMs = pid === undefined || isSecond ? Infinity : now + AGAIN_MS;
    this.#byId.set(id, { pid, life, identity, againMs, usedMs: now });
    return identity;
  }

  /** Reads those that are not known yet, or due again, in slices: of() then reads nothing. */
  async prepare(agents: readonly IdentifiedAgent[], slices: TimeSlices): Promise<void> {
    for (const agent of agents) {
      this.of(agent);
      const pause = slices.turn();
      if (pause !== undefined) await pause;
    }
  }

  /** Returns undefined if the process is gone and an earlier look had seen it. */
  #read({ id, agent, pid, life }: IdentifiedAgent): EngineIdentity | undefined {
    const lineage = pid === undefined || life === 'dead' ? undefined : this.#lineages().of(pid);
    if (lineage === undefined && this.#byId.get(id)?.pid !== undefined && this.#byId.get(id)?.pid === pid)
      return undefined;
    if (lineage === undefined) return this.#table.identify(agent, lineage, this.#whyUnseen(life));
    return this.#table.identify(agent, lineage, undefined, this.#containerOf(pid!));
  }

  #lineages(): LineageReader {
    const now = this.#now();
    if (this.#reader === undefined || now - this.#reader.ms > MOMENT_MS) {
      this.#reader = { lineages: new LineageReader(ENGINE_VARIABLES, this.#procDir), ms: now };
    }
    return this.#reader.lineages;
  }

  #containerOf(pid: number): ContainerIdentity {
    const { containerId, podUid } = readContainer(pid, this.#procDir);
    if (containerId === undefined) return {};
    return { containerId, ...namesOfContainer({ containerId, podUid }, this.#containerLogs) };
  }

  #whyUnseen(life: AgentSnapshot['life']): string {
    if (life === 'dead') return 'its process had ended before it was seen';
    const now = this.#now();
    if (this.#unseen === undefined || now - this.#unseen.ms > AGAIN_MS) {
      const why = this.#look().map((missing) => missing.why);
      this.#unseen = { why: ['its process is not seen', ...why.slice(0, 1)].join(': '), ms: now };
    }
    return this.#unseen.why;
  }

  #sweep(now: number): void {
    if (now - this.#sweptMs < UNUSED_MS / 60) return;
    this.#sweptMs = now;
    for (const [id, { usedMs }] of this.#byId) if (now - usedMs > UNUSED_MS) this.#byId.delete(id);
  }
}

function isSame(a: EngineIdentity | undefined, b: EngineIdentity): boolean {
  return a !== undefined && JSON.stringify(a) === JSON.stringify(b);
}
