/** Tables of docs/metrics.md. */
import { translatedName } from './prometheus-names.mjs';

const KINDS = { counter: 'counter', gauge: 'gauge', histogram: 'histogram', updowncounter: 'up-down counter' };

/** Returns the tables by the names of their places in the page. */
export function tablesOf({ metrics, attributes, categories }) {
  const inGroup = (group) => metrics.filter((metric) => metric.group === group);
  const ownTable = (group) =>
    table(
      ['Metric', 'Kind', 'Unit', 'Attributes', 'Preset', 'Value, and what it does not say'],
      inGroup(group).map((metric) => [
        code(metric.name),
        KINDS[metric.kind],
        metric.unit,
        Object.keys(metric.labels).map(code).join(', '),
        metric.presets === undefined ? '' : metric.presets.join(', '),
        meaning(metric),
      ]),
    );
  return {
    'metrics of NIXL': categories.flatMap(({ name }) => sectionOf(name, inGroup('nixl'))).join('\n\n'),
    categories: categoryTable(categories),
    'transfer metrics': ownTable('transfers'),
    'event metrics': ownTable('events'),
    'agent metrics': ownTable('agents'),
    'own metrics': ownTable('own'),
    'process metrics': processTable(inGroup('process')),
    'metrics on request': table(
      ['Metric', 'Builder', 'Kind', 'Unit', 'Value, and what it does not say'],
      inGroup('request').map((metric) => [
        code(metric.name),
        code(metric.builder),
        KINDS[metric.kind],
        metric.unit,
        meaning(metric),
      ]),
    ),
    attributes: attributeTable(attributes),
    'names in Prometheus': nameTable(metrics.filter(({ names }) => names === undefined || names.otel !== undefined)),
  };
}

function sectionOf(category, metrics) {
  const own = metrics.filter((metric) => metric.category === category);
  if (own.length === 0) return [];
  const rows = own.flatMap(({ nixl, kind, unit, name, note }) =>
    nixl.map((metric) => [
      [code(metric.name), ...metric.labels.map((label) => `by ${code(label)}`)].join(' '),
      code(name),
      KINDS[kind],
      metric.unit === unit ? unit : `${metric.unit}; ${unit}`,
      meaning({ description: metric.description, note }),
    ]),
  );
  const head = ['Naming `nixl`', 'Naming `otel`', 'Kind', 'Unit', 'Value, and what it does not say'];
  return [`### ${category}`, table(head, rows)];
}

function processTable(metrics) {
  const named = (name) => (name === undefined ? '' : code(name));
  return table(
    ['Naming `nixl`', 'Naming `otel`', 'Kind', 'Unit', 'Value, and what it does not say'],
    metrics.map((metric) => [
      named(metric.names.nixl),
      named(metric.names.otel),
      KINDS[metric.kind],
      metric.unit,
      meaning(metric),
    ]),
  );
}

function categoryTable(categories) {
  const errors = /^agent_err_/;
  return table(
    ['Category', "NIXL's own events", 'Other events have'],
    categories.map(({ name, events, hasHistograms }) => [
      code(name),
      events.every((event) => errors.test(event)) && events.length > 0
        ? `the ${events.length} events \`agent_err_*\``
        : events.map(code).join(', ') || 'none',
      hasHistograms ? 'counters, gauge, histogram' : 'counters, gauge',
    ]),
  );
}

function attributeTable(attributes) {
  return table(
    ['Naming `nixl`', 'Naming `otel`', 'What it is', 'Values'],
    attributes.map(({ label, name, brief, values, members, foreign }) => [
      code(label),
      foreign === 'resource' ? `${code(name)} of the resource` : code(name),
      brief,
      values ?? members.map((value) => code(value.replace('NIXL_TELEMETRY_', ''))).join(', '),
    ]),
  );
}

function nameTable(metrics) {
  return table(
    ['Metric', 'Prometheus, by OTLP'],
    metrics.map((metric) => [code(metric.name), code(translatedName(metric))]),
  );
}

function meaning({ description, note }) {
  return note === undefined ? description : `${description} ${note}`;
}

function code(text) {
  return `\`${text}\``;
}

function table(head, rows) {
  const row = (cells) => `| ${cells.join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}
