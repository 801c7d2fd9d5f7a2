/**
 * Registry of OpenTelemetry's semantic conventions, in the form `groups:` that OpenTelemetry's own registry has and `weaver`
 * checks: https://github.com/open-telemetry/weaver/blob/main/schemas/semconv-syntax.md
 */
import { stringify } from 'yaml';

/** Release of OpenTelemetry's registry that `error.type` comes from. */
const SEMCONV = '1.40.0';
/** No server: a registry that is not published has a placeholder, which ends in its version. */
const SCHEMAS = 'https://opentelemetry-instrumentation-nixl.invalid/schemas';
const STABILITY = 'development';
const NOTICE = 'Made by `npm run schema` from the tables in src/mapping.';

/** Returns the text of each file by its path. */
export function registryOf({ metrics, attributes }, version) {
  return {
    'semconv/manifest.yaml': yaml({
      name: 'opentelemetry-instrumentation-nixl',
      description: 'Metrics of NVIDIA NIXL agents, in naming otel.',
      schema_url: `${SCHEMAS}/${version}`,
      dependencies: [
        {
          schema_url: `https://opentelemetry.io/schemas/${SEMCONV}`,
          registry_path: `https://github.com/open-telemetry/semantic-conventions@v${SEMCONV}[model]`,
        },
      ],
    }),
    'semconv/attributes.yaml': yaml({ groups: [attributeGroup(attributes)] }),
    'semconv/metrics.yaml': yaml({
      groups: metrics.filter(isRegistered).map((metric) => metricGroup(metric, attributes)),
    }),
  };
}

/** Metrics of records and of custom builders have attributes that the service chooses. Those of processes are OpenTelemetry's. */
function isRegistered({ group, builder }) {
  return group !== 'process' && (group !== 'request' || builder === 'time');
}

function attributeGroup(attributes) {
  const own = attributes.filter(({ foreign }) => foreign === undefined);
  return {
    id: 'registry.nixl',
    type: 'attribute_group',
    display_name: 'NIXL attributes',
    brief: 'Attributes of NVIDIA NIXL agents, their rings and events.',
    attributes: own.map(({ name, brief, examples, members }) => ({
      id: name,
      type: members.length === 0 ? 'string' : { members: members.map(memberOf) },
      stability: STABILITY,
      brief: plain(brief),
      ...(examples && { examples }),
    })),
  };
}

function memberOf(value) {
  return { id: value.toLowerCase().replaceAll('-', '_'), value, stability: STABILITY };
}

function metricGroup({ name, kind, unit, description, note, labels, ofAgent = false }, attributes) {
  const used = attributes.filter(
    ({ label, foreign, requirement }) =>
      label in labels || (ofAgent && requirement !== undefined && foreign === undefined),
  );
  return {
    id: `metric.${name}`,
    type: 'metric',
    metric_name: name,
    stability: STABILITY,
    brief: plain(description),
    ...(note && { note: plain(note) }),
    instrument: kind,
    unit,
    ...(used.length > 0 && {
      attributes: used.map((attribute) => ({ ref: attribute.name, requirement_level: levelOf(attribute, name) })),
    }),
  };
}

/** The preset `standard` counts known events without the name of the event. */
function levelOf({ label, requirement = 'required' }, metric) {
  return label === 'event' && metric === 'nixl.events' ? 'recommended' : requirement;
}

function plain(text) {
  return text.replaceAll('`', '');
}

function yaml(value) {
  return `# ${NOTICE}\n${stringify(value, { lineWidth: 120, aliasDuplicateObjects: false })}`;
}
