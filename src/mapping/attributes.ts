/** Attributes as configuration: one entry says what an attribute is called and where its value comes from. */
import { type AttributeType, type AttributeValue, convert } from './attribute-values.js';
import { gpuIdentifier } from './gpu-identifier.js';
import type { Attributes } from './naming.js';

/** Sources that need no more than their name. */
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
  /** A named group of a pattern (JavaScript's syntax) that is searched in the agent's name. */
  | { readonly pattern: string; readonly group: string }
  | { readonly constant: AttributeValue }
  /** A variable of this process. */
  | { readonly env: string }
  /** A variable of the agent's process, as it was started. */
  | { readonly agentEnv: string }
  /** A field of a record that a service makes itself. */
  | { readonly record: string };

export interface AttributeSpec {
  readonly name: string;
  readonly source: AttributeSource;
  /** Default: string. What `gpu_identifier` gives is left as it is. */
  readonly type?: AttributeType;
  /** Where the source has no value of this type. Default: the attribute is left out. */
  readonly default?: AttributeValue;
  /** Attributes come in this order, those without one last. */
  readonly order?: number;
}

/** What can be learnt of the process behind an agent. */
export interface ProcessFacts {
  readonly pid: number;
  /** Number of agents of this process that made their ring earlier, as far as that can be seen. */
  readonly instance?: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Of NIXL_TELEMETRY_RANK_ENV, or LOCAL_RANK. */
  readonly localRank?: string;
  /** Models of the GPUs that it may use; undefined where that cannot be told. */
  readonly gpus?: readonly string[];
}

/** Whom attributes are about: an agent, or a record. */
export interface AttributeSubject {
  readonly agent?: string;
  readonly hostname: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly process?: ProcessFacts;
  readonly record?: Readonly<Record<string, unknown>>;
  /** Of the record, or else of the process. */
  readonly gpus?: readonly string[];
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

const OF_THE_PROCESS: readonly AttributeSource[] = [
  'pid',
  'agent_instance',
  'local_rank',
  'gpus',
  'gpu_count',
  'gpu_identifier',
];

function gpusOf({ gpus, process }: AttributeSubject): readonly string[] | undefined {
  return gpus ?? process?.gpus;
}

interface Entry {
  readonly spec: AttributeSpec;
  readonly read: Read;
}

/** The specs are taken as checked. */
export class AttributeRegistry {
  /** In their order. */
  readonly specs: readonly AttributeSpec[];
  /** Variables of the agent's process that are asked for. */
  readonly agentVariables: readonly string[];
  /** Whether anything is asked that only the agent's process can tell. */
  readonly needsProcess: boolean;
  /** Whether an attribute needs the order of the agents in their process. */
  readonly needsInstance: boolean;
  readonly #entries: readonly Entry[];

  constructor(specs: readonly AttributeSpec[] = []) {
    const rank = ({ order = Infinity }: AttributeSpec): number => order;
    this.specs = specs.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
    this.#entries = this.specs.map((spec) => ({ spec, read: reader(spec.source) }));
    const sources = specs.map(({ source }) => source);
    this.agentVariables = sources.flatMap((source) =>
      typeof source === 'object' && 'agentEnv' in source ? [source.agentEnv] : [],
    );
    this.needsInstance = sources.includes('agent_instance');
    this.needsProcess = this.agentVariables.length > 0 || sources.some((source) => OF_THE_PROCESS.includes(source));
  }

  /** In the order of the attributes; without those that have neither value nor default. */
  resolve(subject: AttributeSubject): Attributes {
    const attributes: Attributes = {};
    for (const { spec, read } of this.#entries) {
      // A GPU identifier is a word already, in upper case.
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
