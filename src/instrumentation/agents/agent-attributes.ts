/** The configured attributes of each agent, looked up once per process behind it and not once per collect. */
import type { AgentReading, AttributeRegistry, Attributes, ProcessFacts } from '../../mapping/index.js';
import { readAgentProcess, type RingSource } from '../../shm-bridge/index.js';

/**
 * A process is usually seen within a fraction of a second. Attributes that cannot be changed any more wait for it this
 * long, milliseconds, then do without.
 */
const SETTLE_MS = 2000;

export interface AgentAttributesOptions {
  readonly registry: AttributeRegistry;
  readonly hostname: string;
  /** The variable that holds an agent's local rank. */
  readonly rankVariable: string;
  /** For tests. */
  readonly readProcess?: typeof readAgentProcess;
}

interface Known {
  readonly pid: number | undefined;
  readonly attributes: Attributes;
}

const NONE: Attributes = {};

/** How often new processes are looked at between two collects, milliseconds: they may not live until the next one. */
const WATCH_MS = 250;

export class AgentAttributes {
  readonly #options: AgentAttributesOptions;
  readonly #readProcess: typeof readAgentProcess;
  #byId = new Map<number, Known>();
  #watch: NodeJS.Timeout | undefined;

  constructor(options: AgentAttributesOptions) {
    this.#options = options;
    this.#readProcess = options.readProcess ?? readAgentProcess;
  }

  /** Looks at the processes of this source's agents as they come, where anything is asked of them. */
  watch(source: RingSource): void {
    if (!this.#options.registry.needsProcess || this.#watch !== undefined) return;
    this.#watch = setInterval(() => {
      if (source.closed) return this.unwatch();
      for (const agent of source.snapshot().agents) if (agent.pid !== undefined) this.of(agent);
    }, WATCH_MS).unref();
  }

  unwatch(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** Of series that stand for several agents. */
  shared(): Attributes {
    return this.#resolve(undefined, undefined);
  }

  /** The same object as long as the agent's process is the same. */
  of({ id, agent, pid }: AgentReading): Attributes {
    if (this.#options.registry.specs.length === 0) return NONE;
    const before = this.#byId.get(id);
    // A process that is gone leaves what it had: the last values of a dead agent keep their attributes.
    if (before !== undefined && (pid === undefined || before.pid === pid)) return before.attributes;
    const known = { pid, attributes: this.#resolve(agent, pid) };
    this.#byId.set(id, known);
    return known.attributes;
  }

  /** False as long as the process behind the agent may still turn up and is needed. */
  settled({ pid, startTimeMs }: AgentReading, takenMs: number): boolean {
    return !this.#options.registry.needsProcess || pid !== undefined || takenMs - startTimeMs >= SETTLE_MS;
  }

  /** Forgets all others. */
  keep(agents: readonly AgentReading[]): void {
    if (this.#byId.size <= agents.length) return;
    const ids = new Set(agents.map(({ id }) => id));
    for (const id of this.#byId.keys()) if (!ids.has(id)) this.#byId.delete(id);
  }

  #resolve(agent: string | undefined, pid: number | undefined): Attributes {
    const { registry, hostname } = this.#options;
    const process = pid === undefined ? undefined : this.#factsOf(pid);
    return registry.resolve({
      hostname,
      environment: globalThis.process.env,
      ...(agent === undefined ? {} : { agent }),
      ...(process === undefined ? {} : { process }),
    });
  }

  /** The number of a process can be known where the rest may not be looked at. */
  #factsOf(pid: number): ProcessFacts | undefined {
    const { registry, rankVariable } = this.#options;
    if (!registry.needsProcess) return undefined;
    const seen = this.#readProcess(pid, [rankVariable, ...registry.agentVariables]);
    if (seen === undefined) return { pid, environment: {} };
    const localRank = seen.environment[rankVariable];
    return { ...seen, ...(localRank === undefined ? {} : { localRank }) };
  }
}
