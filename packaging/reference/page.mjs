/** Tables of docs/metrics.md. */

const KINDS = { counter: 'counter', gauge: 'gauge', histogram: 'histogram', updowncounter: 'up-down counter' };

/** Notes that the page states once, before the tables. */
const COMMON = ['Earlier values since the last collect are not seen.', 'Only of `serve`.'];

/** Returns the tables by the names of their places in the page. */
export function tablesOf({ metrics, attributes, categories }) {
  const inGroup = (group) => metrics.filter((metric) => metric.group === group);
  const ownTable = (group) =>
    table(
      ['Metric', 'Kind, unit', 'Value'],
      inGroup(group).map((metric) => [
        code(metric.name),
        [kindOf(metric), by(Object.keys(metric.labels))].filter(Boolean).join(', '),
        [meaning(metric), onlyIn(metric)].filter(Boolean).join(' '),
      ]),
    );
  return {
    'metrics of NIXL': nixlTable(inGroup('nixl')),
    categories: categoryTable(categories),
    'transfer metrics': ownTable('transfers'),
    'event metrics': ownTable('events'),
    'agent metrics': ownTable('agents'),
    'own metrics': ownTable('own'),
    'process metrics': processTable(inGroup('process')),
    'metrics on request': table(
      ['Metric', 'Builder', 'Kind, unit', 'Value'],
      inGroup('request').map((metric) => [code(metric.name), code(metric.builder), kindOf(metric), meaning(metric)]),
    ),
    attributes: attributeTable(attributes),
  };
}

/** Units that name what is counted are in the registry. */
function kindOf({ kind, unit }) {
  return [KINDS[kind], unit?.startsWith('{') ? undefined : unit].filter(Boolean).join(', ');
}

function by(labels) {
  return labels.length === 0 ? undefined : `by ${labels.map(code).join(', ')}`;
}

/** A sentence on the preset of a metric that not both of `standard` and `full` have. */
function onlyIn({ presets }) {
  return presets === undefined || presets.length > 1 ? undefined : `Only in ${presets.map(code).join('')}.`;
}

function nixlTable(metrics) {
  const rows = metrics.flatMap(({ nixl, kind, unit, name, note }) =>
    nixl.map((metric, i) => [
      [code(metric.name), by(metric.labels)].filter(Boolean).join(' '),
      code(name),
      kindOf({ kind, unit: metric.unit === unit || unit.startsWith('{') ? unit : `${metric.unit}; ${unit}` }),
      meaning({ description: metric.description, note: i === 0 ? note : undefined }),
    ]),
  );
  return table(['Naming `nixl`', 'Naming `otel`', 'Kind, unit', 'Value'], rows);
}

function processTable(metrics) {
  const named = (name) => (name === undefined ? '' : code(name));
  return table(
    ['Naming `nixl`', 'Naming `otel`', 'Kind, unit', 'Value'],
    metrics.map((metric) => [named(metric.names.nixl), named(metric.names.otel), kindOf(metric), meaning(metric)]),
  );
}

function categoryTable(categories) {
  const errors = /^agent_err_/;
  const eventsOf = ({ events }) =>
    events.length > 0 && events.every((event) => errors.test(event)) ? '`agent_err_*`' : events.map(code).join(', ');
  return categories
    .map((one) => `- ${code(one.name)}${one.events.length === 0 ? '' : `: ${eventsOf(one)}`}`)
    .join('\n');
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

function meaning({ description, note }) {
  const rest = COMMON.reduce((text, common) => text.replace(common, ''), note ?? '').trim();
  return rest === '' ? description : `${description} ${rest}`;
}

function code(text) {
  return `\`${text}\``;
}

/** A column without any text is left out. */
function table(head, rows) {
  const used = head.map((_, i) => rows.some((cells) => cells[i] !== ''));
  const row = (cells) => `| ${cells.filter((_, i) => used[i]).join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}
