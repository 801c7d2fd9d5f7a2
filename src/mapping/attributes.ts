/** Attributes as configuration: the name of each, and the source of its value. */
import { type AttributeType, type AttributeValue, convert, gpuIdentifier } from './attribute-values.js';
import type { Attributes } from './naming.js';

/** Sources without parameters. */
export const PLAIN_SOURCES = [
  'agent',
  'hostname',
  'pid',
  'agent_instance',
  'local_rank',
  'gpus',
  'gpu_count',
  'gpu_identifier',
] as const;
export type PlainSource = (typeof PLAIN_SOURCES)[number];

export type AttributeSource =
  | PlainSource
  /** Named group of a pattern (JavaScript's syntax), searched in the agent's name. */
  | { readonly pattern: string; readonly group: string }
  | { readonly constant: AttributeValue }
  /** Variable of the process that drains the rings. */
  | { readonly env: string }
  /** Variable of the agent's process, as of its start. */
  | { readonly agentEnv: string }
  /** Field of a record of the service. */
  | { readonly record: string };

export interface AttributeSpec {
  readonly name: string;
  readonly source: AttributeSource;
  /** Default: string; text for `gpu_identifier`. */
  readonly type?: AttributeType;
  /** Value if the source has no value of this type. Without a default, the series lack the attribute. */
  readonly default?: AttributeValue;
  /** Position among the attributes. Attributes without a position come last. */
  readonly order?: number;
}

/** Facts about the process behind an agent. */
export interface ProcessFacts {
  readonly pid: number;
  /** Number of the process's visible agents with an older ring. */
  readonly instance?: number | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Value of the variable that the option `rankVariable` names. */
  readonly localRank?: string | undefined;
  /** Models of the GPUs that the process may use; undefined if unknown. */
  readonly gpus?: readonly string[];
}

/** Subject of attributes: an agent, or a record. */
export interface AttributeSubject {
  readonly agent?: string;
  readonly hostname: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly process?: ProcessFacts | undefined;
  readonly record?: Readonly<Record<string, unknown>>;
  /** GPUs of the record. Default: the GPUs of the process. */
  readonly gpus?: readonly string[] | undefined;
}

type Read = (subject: AttributeSubject) => unknown;

const PLAIN: Readonly<Record<PlainSource, Read>> = {
  agent: ({ agent }) => agent,
  hostname: ({ hostname }) => hostname,
  pid: ({ process }) => process?.pid,
  agent_instance: ({ process }) => process?.instance,
  local_rank: ({ process }) => process?.localRank,
  gpus: gpusOf,
  gpu_count: (subject) => gpusOf(subject)?.length,
  gpu_identifier: (subject) => {
    const gpus = gpusOf(subject);
    return gpus && gpuIdentifier(gpus);
  },
};

const WITHOUT_PROCESS: readonly AttributeSource[] = ['agent', 'hostname'];

function gpusOf({ gpus, process }: AttributeSubject): readonly string[] | undefined {
  return gpus ?? process?.gpus;
}

/** Computes attributes by their specs. Requires checked specs. */
export class AttributeRegistry {
  /** Sorted by `order`. */
  readonly specs: readonly AttributeSpec[];
  /** Variables of the agent's process that attributes need. */
  readonly agentVariables: readonly string[];
  /** True if an attribute needs the agent's process. */
  readonly needsProcess: boolean;
  /** True if an attribute needs the order of the agents in their process. */
  readonly needsInstance: boolean;
  readonly #entries: readonly { readonly spec: AttributeSpec; readonly read: Read }[];

  constructor(specs: readonly AttributeSpec[] = []) {
    const rank = ({ order = Infinity }: AttributeSpec): number => order;
    this.specs = specs.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
    this.#entries = this.specs.map((spec) => ({ spec, read: reader(spec.source) }));
    const sources = specs.map(({ source }) => source);
    this.agentVariables = sources.flatMap((source) =>
      typeof source === 'object' && 'agentEnv' in source ? [source.agentEnv] : [],
    );
    this.needsInstance = sources.includes('agent_instance');
    const plain = sources.filter((source) => typeof source === 'string');
    this.needsProcess = this.agentVariables.length > 0 || plain.some((source) => !WITHOUT_PROCESS.includes(source));
  }

  /** Returns the attributes in their order, without those that have neither value nor default. */
  resolve(subject: AttributeSubject): Attributes {
    const attributes: Attributes = {};
    for (const { spec, read } of this.#entries) {
      // A GPU identifier needs no slug: it has only letters, digits and _, in upper case.
      const type = spec.source === 'gpu_identifier' && spec.type === undefined ? 'text' : (spec.type ?? 'string');
      const value = convert(read(subject), type) ?? spec.default;
      if (value !== undefined) attributes[spec.name] = value;
    }
    return attributes;
  }
}

function reader(source: AttributeSource): Read {
  if (typeof source === 'string') return PLAIN[source];
  if ('pattern' in source) {
    const pattern = new RegExp(source.pattern);
    return ({ agent }) => (agent === undefined ? undefined : pattern.exec(agent)?.groups?.[source.group]);
  }
  if ('constant' in source) return () => source.constant;
  if ('env' in source) return ({ environment }) => environment[source.env];
  if ('agentEnv' in source) return ({ process }) => process?.environment[source.agentEnv];
  return ({ record }) =>
    record !== undefined && Object.hasOwn(record, source.record) ? record[source.record] : undefined;
}
