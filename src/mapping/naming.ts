/** The two namings of the same numbers, and how labels are spelled in each. */
import {
  ATTR_NIXL_AGENT_LIFE,
  ATTR_NIXL_AGENT_NAME,
  ATTR_NIXL_DURATION_OUTCOME,
  ATTR_NIXL_EVENT_CATEGORY,
  ATTR_NIXL_EVENT_NAME,
  ATTR_NIXL_EXPORTER_NAME,
  ATTR_NIXL_RING_DIRECTORY,
  ATTR_NIXL_RING_STATE,
  ATTR_NIXL_TRANSFER_DIRECTION,
} from './semconv.js';
import type { AttributeValue } from './attribute-values.js';

/** `nixl`: the names of NIXL's own Prometheus exporter. `otel`: names in the manner of the semantic conventions. */
export type Naming = 'nixl' | 'otel';

export const NAMINGS: readonly Naming[] = ['nixl', 'otel'];

/** What tells two series of one metric apart, beside the agent. */
export type LabelKey = 'category' | 'event' | 'status' | 'direction' | 'life' | 'state' | 'outcome' | 'exporter';
export type Labels = Readonly<Partial<Record<LabelKey, string>>>;

/** The shape of OpenTelemetry attributes, without importing it. */
export type Attributes = Record<string, AttributeValue>;

const LABEL_NAMES: Readonly<Record<Naming, Readonly<Record<LabelKey, string>>>> = {
  nixl: {
    category: 'category',
    event: 'event',
    status: 'status',
    direction: 'direction',
    life: 'life',
    state: 'state',
    outcome: 'outcome',
    exporter: 'exporter',
  },
  otel: {
    category: ATTR_NIXL_EVENT_CATEGORY,
    event: ATTR_NIXL_EVENT_NAME,
    status: 'error.type',
    direction: ATTR_NIXL_TRANSFER_DIRECTION,
    life: ATTR_NIXL_AGENT_LIFE,
    state: ATTR_NIXL_RING_STATE,
    outcome: ATTR_NIXL_DURATION_OUTCOME,
    exporter: ATTR_NIXL_EXPORTER_NAME,
  },
};

const AGENT_NAMES: Readonly<Record<Naming, readonly string[]>> = {
  nixl: ['hostname', 'agent_name', 'ring_directory'],
  otel: [ATTR_NIXL_AGENT_NAME, ATTR_NIXL_RING_DIRECTORY],
};

/** What the format of Prometheus puts beside the attributes. */
const PROMETHEUS_NAMES = ['le', 'quantile', 'otel_scope_name', 'otel_scope_version', 'otel_scope_schema_url'];

/** Names that attributes of one's own cannot have, in either naming. */
const TAKEN_ATTRIBUTE_NAMES: readonly string[] = [
  ...NAMINGS.flatMap((naming) => [...AGENT_NAMES[naming], ...Object.values(LABEL_NAMES[naming])]),
  ...PROMETHEUS_NAMES,
];

/** An attribute's name as Prometheus spells it, whose labels know no dots: a name there twice breaks the whole page. */
export function prometheusSpelling(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]+/g, '_');
}

/** The name of the metrics' own that an attribute of this name would meet, if there is one: there or in Prometheus. */
export function takenAttributeName(name: string): string | undefined {
  if (TAKEN_ATTRIBUTE_NAMES.includes(name)) return name;
  return TAKEN_ATTRIBUTE_NAMES.find((taken) => prometheusSpelling(taken) === prometheusSpelling(name));
}

/** Who an agent is. The hostname is left out in naming `otel`: there the resource says it (`host.name`). */
export interface AgentIdentity {
  readonly agent: string;
  readonly hostname: string;
  /** Given only where another agent in another directory has the same name. */
  readonly directory?: string;
  /** Those of the configuration. */
  readonly attributes?: Attributes;
  /** Labels of NIXL's own series alone. */
  readonly nixlLabels?: Attributes;
}

export function agentAttributes(naming: Naming, { agent, hostname, directory, attributes }: AgentIdentity): Attributes {
  if (naming === 'nixl') {
    const place = directory === undefined ? {} : { ring_directory: directory };
    return { hostname, agent_name: agent, ...place, ...attributes };
  }
  const place = directory === undefined ? {} : { [ATTR_NIXL_RING_DIRECTORY]: directory };
  return { [ATTR_NIXL_AGENT_NAME]: agent, ...place, ...attributes };
}

/** Attributes of series that belong to no agent. */
export function hostAttributes(naming: Naming, hostname: string): Attributes {
  return naming === 'nixl' ? { hostname } : {};
}

export function withLabels(naming: Naming, base: Attributes, labels: Labels): Attributes {
  const names = LABEL_NAMES[naming];
  const attributes = { ...base };
  for (const [key, value] of Object.entries(labels)) attributes[names[key as LabelKey]] = value;
  return attributes;
}

/** Names that more than one of these agents has: only those need their directory told. */
export function ambiguousNames(agents: readonly { readonly agent: string }[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const ambiguous = new Set<string>();
  for (const { agent } of agents) {
    if (seen.has(agent)) ambiguous.add(agent);
    else seen.add(agent);
  }
  return ambiguous;
}
