/** Configured attributes and NIXL's labels of each agent, looked up once per process and not once per collect. */
import { EngineTable } from '../../engines/identify.js';
import { type AgentSnapshot, AttributeRegistry, type Attributes, type WayWords } from '../../mapping/index.js';
import { oneLine } from '../../ground/one-line.js';
import { processStart } from '../../shm-bridge/agent-process.js';
import { KeptSnapshot } from '../../shm-bridge/kept-snapshot.js';
import { readProcessIdentity } from '../../shm-bridge/process-identity.js';
import { MOST_ATTRIBUTE_BYTES } from '../../ground/source-limits.js';
import { readAgentProcess, type RingSource } from '../../shm-bridge/index.js';
import type { DiagOnce } from '../feed/diag-once.js';
import { AgentIdentities } from './agent-identities.js';
import { AgentInstances } from './agent-instances.js';
import { factsIn, type KeptFacts, keptText } from './kept-facts.js';

/** Longest wait for an agent's process. After this time its attributes, which cannot change, are set without the process. */
const SETTLE_MS = 2000;

interface AgentAttributesOptions {
  readonly registry: AttributeRegistry;
  /** Labels of NIXL's own series beside the configured attributes. Default: none. */
  readonly nixlLabels?: AttributeRegistry;
  readonly hostname: string;
  /** Name of the variable that holds an agent's local rank. */
  readonly rankVariable: string;
  readonly log: DiagOnce;
  /** Default: without rows of the configuration. */
  readonly engines?: EngineTable;
  readonly containerLogs?: string | undefined;
  /** Replacement in tests. */
  readonly readProcess?: typeof readAgentProcess;
  readonly readIdentity?: typeof readProcessIdentity;
}

interface ReadProcess {
  readonly start?: string | undefined;
  /** Undefined if the process has ended or cannot be read. */
  readonly seen?: Omit<KeptFacts, 'start' | 'instance'> | undefined;
}

interface ResolvedAgent {
  readonly attributes: Attributes;
  readonly nixlLabels: Attributes;
}

interface Known extends ResolvedAgent {
  readonly pid: number | undefined;
}

const NONE: Known = { pid: undefined, attributes: {}, nixlLabels: {} };

/** Interval of probes for new processes between two collects: a process may end before the next one. */
const WATCH_MS = 250;

export class AgentAttributes {
  /** Engines of the agents. */
  readonly identities: AgentIdentities;
  /** Returns the ways of an agent, the same object as long as they do not change. Only serve knows them. */
  waysOf: (id: number) => WayWords | undefined = () => undefined;
  readonly #options: AgentAttributesOptions;
  readonly #nixlLabels: AttributeRegistry;
  /** Undefined: no attribute or label needs the order of a process's agents. */
  readonly #instances: AgentInstances | undefined;
  readonly #readProcess: typeof readAgentProcess;
  readonly #readIdentity: typeof readProcessIdentity;
  readonly #ownPod: string | undefined;
  #byId = new Map<number, Known>();
  /** Agents that the last snapshot lacked. */
  #missing: ReadonlySet<number> = new Set();
  /** Keeps the facts about processes for the next process of serve. */
  #source: RingSource | undefined;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: AgentAttributesOptions) {
    this.#options = options;
    this.identities = new AgentIdentities({
      table: options.engines ?? new EngineTable(),
      containerLogs: options.containerLogs,
    });
    this.#nixlLabels = options.nixlLabels ?? new AttributeRegistry();
    const asked = [options.registry, this.#nixlLabels].some(({ needsInstance }) => needsInstance);
    this.#instances = asked ? new AgentInstances() : undefined;
    this.#readProcess = options.readProcess ?? readAgentProcess;
    this.#readIdentity = options.readIdentity ?? readProcessIdentity;
    this.#ownPod = options.registry.needsIdentity ? this.#readIdentity('self')?.podUid : undefined;
  }

  /** Probes the processes of this source's agents as they appear, if an attribute or label needs a process. */
  watch(source: RingSource): void {
    if (!this.#needsProcess || this.#watch !== undefined) return;
    this.#source = source;
    const kept = new KeptSnapshot();
    this.#watch = setInterval(() => {
      if (source.closed) return this.unwatch();
      const { agents } = source.snapshot({ exponential: false, kept });
      this.number(agents);
      for (const agent of agents) if (agent.pid !== undefined) this.resolved(agent);
    }, WATCH_MS).unref();
  }

  unwatch(): void {
    clearInterval(this.#watch);
    this.#watch = this.#source = undefined;
  }

  /** Returns the attributes of series that several agents share. */
  shared(): ResolvedAgent {
    return this.#resolve({}, undefined);
  }

  /**
   * Numbers the agents of each process. Needs all agents of a snapshot, also those that are not exported yet, before of() or
   * settled() is called for one of them.
   */
  number(agents: readonly AgentSnapshot[]): void {
    this.#instances?.number(agents);
  }

  of(agent: AgentSnapshot): Attributes {
    return this.resolved(agent).attributes;
  }

  /**
   * Returns the same object as long as the agent's process is the same. A process that can be read has the first claim, before
   * the facts that an earlier process of serve kept.
   */
  resolved(snapshot: AgentSnapshot): ResolvedAgent {
    const { id, agent } = snapshot;
    const pid = this.#pidOf(snapshot);
    if (this.#options.registry.specs.length === 0 && this.#nixlLabels.specs.length === 0) return NONE;
    const before = this.#byId.get(id);
    // The attributes outlive the process: the last values of a dead agent keep them.
    if (before !== undefined && (pid === undefined || before.pid === pid)) return before;
    const known = { pid, ...this.#resolve({ agent }, this.#needsProcess ? this.#factsOf(snapshot, pid) : undefined) };
    this.#byId.set(id, known);
    return known;
  }

  /** Returns false while the agent's process is needed and may still be found. */
  settled(agent: AgentSnapshot, takenMs: number): boolean {
    return !this.#needsProcess || this.#pidOf(agent) !== undefined || takenMs - agent.startTimeMs >= SETTLE_MS;
  }

  /**
   * Forgets agents that this snapshot and the one before lack. One snapshot in slices may lack an agent that was attached
   * meanwhile, and that watch() has already seen.
   */
  keep(agents: readonly AgentSnapshot[]): void {
    if (this.#byId.size <= agents.length && this.#missing.size === 0) return;
    const ids = new Set(agents.map(({ id }) => id));
    const missing = [...this.#byId.keys()].filter((id) => !ids.has(id));
    for (const id of missing) {
      if (this.#missing.has(id)) this.#byId.delete(id);
      else ids.add(id);
    }
    this.#missing = new Set(missing);
    this.#instances?.keep(ids);
  }

  /** Returns undefined as well while the agent has no number in its process: both labels appear at once. */
  #pidOf({ id, pid }: AgentSnapshot): number | undefined {
    const isKnown = pid !== undefined && (this.#instances === undefined || this.#instances.of(id, pid) !== undefined);
    return isKnown ? pid : undefined;
  }

  get #needsProcess(): boolean {
    return this.#options.registry.needsProcess || this.#nixlLabels.needsProcess;
  }

  #resolve(about: { readonly agent?: string }, facts: KeptFacts | undefined): ResolvedAgent {
    const { registry, hostname, rankVariable } = this.#options;
    const process = facts && {
      ...facts,
      localRank: facts.environment[rankVariable],
      isInOwnPod: facts.podUid !== undefined && facts.podUid === this.#ownPod,
    };
    const subject = { ...about, hostname, environment: globalThis.process.env, process };
    return { attributes: registry.resolve(subject), nixlLabels: this.#nixlLabels.resolve(subject) };
  }

  /** Returns facts about the agent's process. If the process was never readable, they have only its pid. */
  #factsOf(snapshot: AgentSnapshot, pid: number | undefined): KeptFacts | undefined {
    const { id, path, life, keptAttributes } = snapshot;
    const kept = keptAttributes === undefined ? undefined : factsIn(keptAttributes);
    if (pid === undefined) return kept;
    // After its end another process may have its pid.
    const { start, seen }: ReadProcess = life === 'dead' ? {} : this.#read(pid, path);
    // It may end before it is read.
    if (seen === undefined && kept?.pid === pid && (start ?? kept.start) === kept.start) return kept;
    const facts = { ...(seen ?? { pid, environment: {} }), start, instance: this.#instances?.of(id, pid) };
    this.#keep(snapshot, facts);
    return facts;
  }

  #read(pid: number, path: string): ReadProcess {
    const { registry, rankVariable } = this.#options;
    const start = processStart(pid);
    const seen = this.#readProcess(pid, [rankVariable, ...registry.agentVariables]);
    const identity = registry.needsIdentity ? this.#readIdentity(pid) : undefined;
    // It may end between two reads.
    if (seen === undefined || processStart(pid) !== start) return { start };
    if (identity === undefined) return { start, seen };
    const { isHidden, ...known } = identity;
    if (isHidden) this.#warnOfHidden(path);
    return { start, seen: { ...seen, ...known } };
  }

  #warnOfHidden(path: string): void {
    const reason = 'its process is in the root cgroup, or the cgroup namespace of this process hides its cgroup';
    this.#options.log.warn('attributes', 'cgroup', `the container of ring ${oneLine(path)} is unknown: ${reason}`);
  }

  #keep({ id, path }: AgentSnapshot, facts: KeptFacts): void {
    if (this.#source === undefined || this.#source.closed) return;
    const text = keptText(facts);
    this.#source.keepAttributes(id, text ?? ''); // no text is better than that of an earlier process
    if (text !== undefined) return;
    const effect = 'a later serve cannot give them to the agent after its process has ended';
    const message = `attributes of ring ${oneLine(path)} take more than ${MOST_ATTRIBUTE_BYTES} bytes: ${effect}`;
    this.#options.log.debug(path, 'attributes', message);
  }
}
