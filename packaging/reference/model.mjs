/** Model of all metrics and attributes, made of the tables in src/mapping and src/instrumentation. */
import { ATTRIBUTES } from './attributes.mjs';
import { NOTES } from './notes.mjs';

/** Built-in builders that read the tally, by the table of docs/metrics.md that has their metrics. */
const GROUPS = {
  transfers: 'transfers',
  durations: 'transfers',
  models: 'transfers',
  sizes: 'transfers',
  events: 'events',
  agents: 'agents',
  time: 'request',
};

/**
 * Returns metrics, attributes and categories. A metric has `name` and `unit` of naming `otel`; `labels` with the values of
 * each; `presets`, or the `builder` that it needs. NIXL's own have `nixl`, a list of the metrics in naming `nixl` with the same
 * values, and `category`. `modules`: those of generate.mjs.
 */
export function modelOf(modules) {
  const metrics = [
    ...nixlMetrics(modules),
    ...tallyMetrics(modules),
    ...ownMetrics(modules),
    ...processMetrics(modules),
    ...countingMetrics(modules),
  ];
  const strangers = Object.keys(NOTES).filter((name) => !metrics.some((metric) => metric.name === name));
  if (strangers.length > 0) throw new Error(`notes about no metric: ${strangers.join(', ')}`);
  return {
    metrics: metrics.map((metric) => ({ ...metric, note: NOTES[metric.name] })),
    attributes: attributesOf(metrics, modules.mapping),
    categories: categoriesOf(modules.mapping),
  };
}

function nixlMetrics({ mapping }) {
  const { CATEGORIES, EVENTS, metricsOf, SERIES_PRESETS } = mapping;
  const [nixl, otel] = ['nixl', 'otel'].map((naming) => metricsOf(naming, { builders: ['nixl'] }));
  const named = (metrics, { name }) => metrics.find((metric) => metric.name === name);
  const found = new Map();
  for (const row of EVENTS) {
    for (const [kind, ref] of Object.entries(row.nixl)) {
      const { name, description } = named(nixl, ref);
      const metric = about(named(otel, row.otel[kind]));
      const before = found.get(metric.name) ?? { ...metric, nixl: [], category: CATEGORIES[row.category].name };
      if (before.nixl.some((one) => one.name === name)) continue;
      before.nixl.push({ name, description, unit: row.unit, labels: Object.keys(ref.labels ?? {}) });
      found.set(metric.name, before);
    }
  }
  return [...found.values()].map((metric) => ({ ...metric, group: 'nixl', ofAgent: true, presets: SERIES_PRESETS }));
}

function tallyMetrics({ mapping }) {
  const { metricsOf, PRESETS } = mapping;
  const presetsWith = (builders) =>
    Object.keys(PRESETS).filter((preset) => PRESETS[preset].builders.some((one) => builders.includes(one)));
  return Object.entries(GROUPS).flatMap(([builder, group]) => {
    // Both have the same metrics, with more and with fewer series.
    const presets = presetsWith(builder === 'events' ? ['events', 'categories'] : [builder]);
    const metrics = metricsOf('otel', { builders: [builder] });
    return metrics.map((metric) => ({ ...about(metric, mapping), group, builder, ofAgent: true, presets }));
  });
}

/** Metrics that belong to no agent. Their points at rest have all values of their labels. */
function ownMetrics({ mapping, semconv, selfMetrics, serveMetrics, serveState, builderRun }) {
  const { PRESETS } = mapping;
  const presets = Object.keys(PRESETS).filter((preset) => PRESETS[preset].hasOwnMetrics);
  const snapshot = {
    collector: {},
    agents: [],
    problems: [],
    problemCount: 0,
    stateProblems: [],
    places: [{ path: '', space: { totalBytes: 1 } }],
  };
  const serve = {
    exporters: [{ exporter: '', failures: 0, results: {} }],
    process: {},
    access: { refusals: new Map(), isStale: false },
    findings: serveState.COUNTED_FINDINGS,
  };
  const durations = [{ type: 6, seen: 0, recorded: 0, sampledOut: 0, lost: 0 }];
  const listed = [
    ...selfMetrics.SELF_METRICS.map((metric) => ({ ...metric, points: metric.points(snapshot) })),
    ...serveMetrics.EXPORT_METRICS.map((metric) => ({ ...metric, points: metric.points(serve) })),
    ...selfMetrics.DURATION_METRICS.map((metric) => ({ ...metric, points: metric.points(durations, durations) })),
  ];
  return [
    ...listed.map((metric) => ({ ...about(metric), group: 'own', presets })),
    {
      ...builderRun.EVENTS_OPTIONS,
      name: semconv.METRIC_NIXL_BUILDERS_EVENTS,
      kind: 'counter',
      labels: {},
      group: 'request',
      builder: 'custom',
    },
  ];
}

/** Metrics of the process of serve: of another registry, and with the names of each naming's world. */
function processMetrics({ serveMetrics, reservedNames }) {
  return serveMetrics.PROCESS_METRICS.map(({ names: { nixl, otel }, unit, description }) => ({
    name: otel ?? nixl,
    names: { nixl, otel },
    kind: reservedNames.OWN_METRICS[otel ?? nixl],
    unit,
    description,
    labels: {},
    group: 'process',
  }));
}

/** Metrics of builders that make their own instruments. */
function countingMetrics({ comprehensive, records }) {
  const metricsOf = (builder) => {
    const made = [];
    const createCounter = (name, { unit, description }) => {
      made.push({ name, unit, description, kind: 'counter', labels: {}, group: 'request', builder: builder.name });
      return { add() {} };
    };
    builder.create({ createCounter });
    builder.process({}, {});
    return made;
  };
  return [...metricsOf(new comprehensive.ComprehensiveBuilder()), ...metricsOf(new records.RecordsBuilder())];
}

function about({ name, kind, unit, description, points, perEvent, isInfo }, mapping) {
  const labels = {};
  for (const point of points) {
    for (const [key, value] of Object.entries(point.labels))
      labels[key] = [...new Set([...(labels[key] ?? []), value])];
  }
  if (isInfo) for (const label of mapping.INFO_LABELS) labels[label] = [];
  if (perEvent !== undefined) Object.assign(labels, { category: categoryValues(mapping), event: [] });
  return { name, kind, unit, description, labels };
}

function categoryValues({ BAD_CATEGORY, CATEGORIES, OVERFLOW_LABELS }) {
  return [...CATEGORIES.map(({ name }) => name), BAD_CATEGORY, OVERFLOW_LABELS.category];
}

/** Returns the attributes with their names in both namings, and the values that all metrics have. */
function attributesOf(metrics, { agentAttributes, withLabels }) {
  const identity = { agent: 'a', hostname: 'h', directory: 'd' };
  const [nixl, otel] = ['nixl', 'otel'].map((naming) => Object.keys(agentAttributes(naming, identity)));
  const ofAgent = Object.fromEntries(nixl.slice(-otel.length).map((label, i) => [label, otel[i]]));
  return ATTRIBUTES.map((attribute) => {
    const {
      label,
      values,
      name = ofAgent[label] ?? Object.keys(withLabels('otel', {}, { [label]: '' }))[0],
    } = attribute;
    const found = [...new Set(metrics.flatMap(({ labels }) => labels[label] ?? []))];
    if (name === undefined || (values === undefined && found.length === 0)) throw new Error(`no series has ${label}`);
    return { ...attribute, name, members: values === undefined ? found : [] };
  });
}

/** Returns each category of NIXL with its events. `hasHistograms`: its other events have a histogram. */
function categoriesOf({ CATEGORIES, EVENTS }) {
  return CATEGORIES.map(({ name, defaultKind }, number) => ({
    name,
    events: EVENTS.filter(({ category }) => category === number).map(({ event }) => event),
    hasHistograms: defaultKind === 'counter-gauge-histogram',
  }));
}
