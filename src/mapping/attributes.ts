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
  'process_name',
  'container_id',
  'pod_uid',
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
  /** Variable of the agent's process, or of the process that drains the rings if both are in one pod. */
  | { readonly podEnv: string }
  /** Field of a record of the service. */
  | { readonly record: string };

export interface AttributeSpec {
  readonly name: string;
  readonly source: AttributeSource;
  /** Default: string; text for `gpu_identifier`, `process_name`, `container_id` and `pod_uid`. */
  readonly type?: AttributeType;
  /** Value if the source has no value of this type. Without a default, the series lack the attribute. */
  readonly default?: AttributeValue;
  /** Position among the attributes. Attributes without a position come last. */
  readonly order?: number;
}

/** Name of a set of attributes. */
export type AttributeSet = 'kubernetes';
export const ATTRIBUTE_SET_NAMES: readonly AttributeSet[] = ['kubernetes'];

const ATTRIBUTE_SETS: Readonly<Record<AttributeSet, readonly AttributeSpec[]>> = {
  /** Names of OpenTelemetry's semantic conventions. Rings are in memory, so the reader's node is that of the agents. */
  kubernetes: [
    { name: 'container.id', source: 'container_id' },
    { name: 'k8s.pod.uid', source: 'pod_uid' },
    { name: 'k8s.pod.name', source: { podEnv: 'POD_NAME' }, type: 'text' },
    { name: 'k8s.namespace.name', source: { podEnv: 'POD_NAMESPACE' }, type: 'text' },
    { name: 'k8s.node.name', source: { env: 'NODE_NAME' }, type: 'text' },
  ],
};

/** Replaces each word by its attributes. */
export function attributeSpecs(given: readonly (AttributeSpec | AttributeSet)[] = []): AttributeSpec[] {
  return given.flatMap((one): readonly AttributeSpec[] => (typeof one === 'string' ? ATTRIBUTE_SETS[one] : [one]));
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
  readonly name?: string | undefined;
  readonly containerId?: string | undefined;
  readonly podUid?: string | undefined;
  /** True if it is known to be in the pod of the process that drains the rings. */
  readonly isInOwnPod?: boolean;
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
  process_name: ({ process }) => process?.name,
  container_id: ({ process }) => process?.containerId,
  pod_uid: ({ process }) => process?.podUid,
};

/** Sources that need the agent's container or pod, or the name of its process. */
const IDENTITY_SOURCES: readonly AttributeSource[] = ['process_name', 'container_id', 'pod_uid'];
/** Values that would be wrong in another spelling. */
const TEXT_SOURCES: readonly AttributeSource[] = ['gpu_identifier', ...IDENTITY_SOURCES];

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
  /** True if an attribute needs the identity of the agent's process: its name, container or pod. */
  readonly needsIdentity: boolean;
  readonly #entries: readonly { readonly spec: AttributeSpec; readonly read: Read }[];

  constructor(specs: readonly AttributeSpec[] = []) {
    const rank = ({ order = Infinity }: AttributeSpec): number => order;
    this.specs = specs.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
    this.#entries = this.specs.map((spec) => ({ spec, read: reader(spec.source) }));
    const sources = specs.map(({ source }) => source);
    this.agentVariables = sources.flatMap((source) => {
      if (typeof source !== 'object') return [];
      if ('podEnv' in source) return [source.podEnv];
      return 'agentEnv' in source ? [source.agentEnv] : [];
    });
    this.needsIdentity = sources.some(
      (source) => IDENTITY_SOURCES.includes(source) || (typeof source === 'object' && 'podEnv' in source),
    );
    this.needsInstance = sources.includes('agent_instance');
    const plain = sources.filter((source) => typeof source === 'string');
    this.needsProcess = this.agentVariables.length > 0 || plain.some((source) => !WITHOUT_PROCESS.includes(source));
  }

  /** Returns the attributes in their order, without those that have neither value nor default. */
  resolve(subject: AttributeSubject): Attributes {
    const attributes: Attributes = {};
    for (const { spec, read } of this.#entries) {
      const type = spec.type ?? (TEXT_SOURCES.includes(spec.source) ? 'text' : 'string');
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
  if ('podEnv' in source) {
    const { podEnv } = source;
    return ({ environment, process }) =>
      process?.environment[podEnv] || (process?.isInOwnPod === true ? environment[podEnv] : undefined);
  }
  if ('agentEnv' in source) return ({ process }) => process?.environment[source.agentEnv];
  return ({ record }) =>
    record !== undefined && Object.hasOwn(record, source.record) ? record[source.record] : undefined;
}
