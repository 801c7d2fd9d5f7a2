/** Two namings of the same numbers, and the spelling of labels in each. */
import { type EngineIdentity, rankText } from '../engines/engine-identity.js';
import { countsOf } from '../ground/maps.js';
import type { AttributeValue } from './attribute-values.js';
import * as semconv from './semconv.js';

/** `nixl`: names of NIXL's own Prometheus exporter. `otel`: names in the style of the semantic conventions. */
export const NAMINGS = ['nixl', 'otel'] as const;
export type Naming = (typeof NAMINGS)[number];

/** Labels and their names in naming `otel`. In naming `nixl` the key is the name. */
const OTEL_LABELS = {
  category: semconv.ATTR_NIXL_EVENT_CATEGORY,
  event: semconv.ATTR_NIXL_EVENT_NAME,
  status: 'error.type', // of OpenTelemetry's semantic conventions
  direction: semconv.ATTR_NIXL_TRANSFER_DIRECTION,
  up_to_bytes: semconv.ATTR_NIXL_TRANSFER_UP_TO_BYTES,
  life: semconv.ATTR_NIXL_AGENT_LIFE,
  state: semconv.ATTR_NIXL_RING_STATE,
  outcome: semconv.ATTR_NIXL_DURATION_OUTCOME,
  exporter: semconv.ATTR_NIXL_EXPORTER_NAME,
  reason: semconv.ATTR_NIXL_HTTP_REFUSAL_REASON,
} as const;

/** Labels of metrics about serve, as above. Agents' series lack them, so configured attributes may have their names. */
const OTEL_LABELS_OF_SERVE = {
  result: semconv.ATTR_NIXL_EXPORT_RESULT,
  ring_directory: semconv.ATTR_NIXL_RING_DIRECTORY,
  use: semconv.ATTR_NIXL_SPACE_USE,
  kind: semconv.ATTR_NIXL_FINDING_KIND,
  level: semconv.ATTR_NIXL_FINDING_LEVEL,
  version: 'service.version', // this one and the next of OpenTelemetry's semantic conventions
  node_version: 'process.runtime.version',
} as const;
/** Labels of `nixl.agent.info`, as above. A configured attribute of the same name has their place. */
const OTEL_LABELS_OF_INFO = {
  display_name: semconv.ATTR_NIXL_AGENT_DISPLAY_NAME,
  engine: semconv.ATTR_NIXL_AGENT_ENGINE,
  part: semconv.ATTR_NIXL_AGENT_PART,
  engine_instance: semconv.ATTR_NIXL_AGENT_INSTANCE, // `instance` belongs to Prometheus
  model: semconv.ATTR_NIXL_AGENT_MODEL,
  role: semconv.ATTR_NIXL_AGENT_ROLE,
  dp_rank: semconv.ATTR_NIXL_AGENT_RANK_DP,
  pp_rank: semconv.ATTR_NIXL_AGENT_RANK_PP,
  tp_rank: semconv.ATTR_NIXL_AGENT_RANK_TP,
  ep_rank: semconv.ATTR_NIXL_AGENT_RANK_EP,
  ranks: semconv.ATTR_NIXL_AGENT_RANKS,
  way_tx: semconv.ATTR_NIXL_AGENT_WAY_TX,
  way_rx: semconv.ATTR_NIXL_AGENT_WAY_RX,
  // These are of OpenTelemetry's semantic conventions.
  pid: 'process.pid',
  container_id: 'container.id',
  namespace: 'k8s.namespace.name',
  pod: 'k8s.pod.name',
  container: 'k8s.container.name',
} as const;
export const INFO_LABELS = Object.keys(OTEL_LABELS_OF_INFO);
const ALL_OTEL_LABELS = { ...OTEL_LABELS, ...OTEL_LABELS_OF_SERVE, ...OTEL_LABELS_OF_INFO };

/** Distinguishes the series of one metric and agent. */
export type LabelKey = keyof typeof ALL_OTEL_LABELS;
export type Labels = Readonly<Partial<Record<LabelKey, string>>>;
/** One object for all points without labels: attributes are merged once per object. */
export const NO_LABELS: Labels = {};

/** Ways of an agent's bytes as words, `rdma by mlx5_0/1`. A change makes a new series of `nixl.agent.info`. */
export interface WayWords {
  readonly tx?: string;
  readonly rx?: string;
}

/** Shape of OpenTelemetry attributes, without an import of it. */
export type Attributes = Record<string, AttributeValue>;

const HOST = 'hostname';
/** Names of the agent and its directory. */
const AGENT_NAMES: Readonly<Record<Naming, readonly [agent: string, directory: string]>> = {
  nixl: ['agent_name', 'ring_directory'],
  otel: [semconv.ATTR_NIXL_AGENT_NAME, semconv.ATTR_NIXL_RING_DIRECTORY],
};

/** Labels that the Prometheus format adds to the attributes. */
const PROMETHEUS_NAMES = ['le', 'quantile', 'otel_scope_name', 'otel_scope_version', 'otel_scope_schema_url'];

/** Names that configured attributes cannot have, in either naming. */
const TAKEN_ATTRIBUTE_NAMES: readonly string[] = [
  HOST,
  ...NAMINGS.flatMap((naming) => AGENT_NAMES[naming]),
  ...Object.entries(OTEL_LABELS).flat(),
  ...PROMETHEUS_NAMES,
];

/** Returns an attribute's name as Prometheus spells it, without dots. Two attributes with the same spelling break a scrape. */
export function prometheusSpelling(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]+/g, '_');
}

/** Returns the taken name that collides with this attribute name, unchanged or in Prometheus' spelling. */
export function takenAttributeName(name: string): string | undefined {
  if (TAKEN_ATTRIBUTE_NAMES.includes(name)) return name;
  return TAKEN_ATTRIBUTE_NAMES.find((taken) => prometheusSpelling(taken) === prometheusSpelling(name));
}

/** Identity of an agent. Naming `otel` leaves the hostname to the resource (`host.name`). */
export interface AgentIdentity {
  readonly agent: string;
  readonly hostname: string;
  /** Set only if another agent in another directory has the same name. */
  readonly directory?: string | undefined;
  /** Configured attributes. */
  readonly attributes?: Attributes;
  /** Labels that only NIXL's own series have. */
  readonly nixlLabels?: Attributes;
  /** Engine, instance and ranks, which only `nixl.agent.info` has. */
  readonly engine?: EngineIdentity | undefined;
  readonly pid?: number | undefined;
  readonly ways?: WayWords | undefined;
}

export function agentAttributes(naming: Naming, { agent, hostname, directory, attributes }: AgentIdentity): Attributes {
  const [agentName, directoryName] = AGENT_NAMES[naming];
  const place = directory === undefined ? {} : { [directoryName]: directory };
  return { ...hostAttributes(naming, hostname), [agentName]: agent, ...place, ...attributes };
}

/** Returns the attributes of series that belong to no agent. */
export function hostAttributes(naming: Naming, hostname: string): Attributes {
  return naming === 'nixl' ? { [HOST]: hostname } : {};
}

/** Returns the attributes of `nixl.agent.info`: what is known of the agent's engine and ways, beside `base`, whose names have the first claim. */
export function infoAttributes(
  naming: Naming,
  base: Attributes,
  { agent, engine = {}, pid, ways }: AgentIdentity,
): Attributes {
  const { ranks = {}, label, instance } = engine;
  const values: Readonly<Record<keyof typeof OTEL_LABELS_OF_INFO, AttributeValue | undefined>> = {
    display_name: label ?? agent,
    engine: engine.engine,
    part: engine.part,
    engine_instance: instance,
    model: engine.model,
    role: engine.role,
    dp_rank: ranks.dp,
    pp_rank: ranks.pp,
    tp_rank: ranks.tp,
    ep_rank: ranks.ep,
    ranks: rankText(ranks),
    way_tx: ways?.tx,
    way_rx: ways?.rx,
    pid,
    container_id: engine.containerId,
    namespace: engine.namespace,
    pod: engine.pod,
    container: engine.container,
  };
  const taken = new Set(Object.keys(base).map(prometheusSpelling));
  const attributes = { ...base };
  for (const [key, name] of Object.entries(OTEL_LABELS_OF_INFO)) {
    const value = values[key as keyof typeof OTEL_LABELS_OF_INFO];
    const spelled = naming === 'nixl' ? key : name;
    if (value !== undefined && !taken.has(prometheusSpelling(spelled))) attributes[spelled] = value;
  }
  return attributes;
}

export function withLabels(naming: Naming, base: Attributes, labels: Labels): Attributes {
  const attributes = { ...base };
  for (const [key, value] of Object.entries(labels)) {
    attributes[naming === 'nixl' ? key : ALL_OTEL_LABELS[key as LabelKey]] = value;
  }
  return attributes;
}

/** Returns the names that several of these agents share: only those agents need their directory. */
export function ambiguousNames(agents: readonly { readonly agent: string }[]): ReadonlySet<string> {
  const counts = countsOf(agents.map(({ agent }) => agent));
  return new Set([...counts.keys()].filter((agent) => counts.get(agent)! > 1));
}
