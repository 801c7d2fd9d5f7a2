/** Parts of Grafana dashboards: panels, rows of panels, variables and annotations. */
import { BASE, RUNBOOK_BASE } from './runbooks.mjs';

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const WIDTH = 24;

/** Colours of a verdict: red from `bad` on, orange from `warn` on. `down`: low values are the bad ones. */
function stepsOf({ warn, bad, down = false }) {
  const steps = [
    ...(warn === undefined ? [] : [{ color: 'orange', value: warn }]),
    ...(bad === undefined ? [] : [{ color: 'red', value: bad }]),
  ];
  if (!down) return [{ color: steps.length === 0 ? 'text' : 'green', value: null }, ...steps];
  return [
    { color: 'red', value: null },
    { color: 'green', value: bad },
  ];
}

/** A query and the legend of its series. */
export function line(expr, legendFormat) {
  return { expr, legendFormat };
}

/** Returns the settings of fields. Lines by agent lead to the live page of their host: `instance` is its address where Prometheus scrapes it. */
function fieldsOf(lines, defaults) {
  const names = lines.map(({ legendFormat }) => /{{(display_name|agent)}}.*{{instance}}/.exec(legendFormat)?.[1]);
  if (names.includes(undefined)) return { defaults, overrides: [] };
  const livePage = {
    title: `Live page of \${__field.labels.${names[0]}}`,
    url: 'http://${__field.labels.instance}/#agent=${__field.labels.agent}',
    targetBlank: true,
  };
  return { defaults: { ...defaults, links: [livePage] }, overrides: [] };
}

function panel(type, title, lines, { description = '', ...rest }, more = {}) {
  const targets = lines.map((one, i) => ({
    datasource: DATASOURCE,
    ...one,
    ...more,
    refId: String.fromCharCode(65 + i),
  }));
  return { type, title, description, datasource: DATASOURCE, targets, ...rest };
}

/** Lines over time. `stacked`: the values add up. `max`: of the axis. */
export function graph(title, lines, { unit, stacked = false, max, fill = 8, description }) {
  const custom = { lineWidth: 1, fillOpacity: fill, showPoints: 'never', spanNulls: false };
  if (stacked) custom.stacking = { mode: 'normal', group: 'A' };
  const defaults = { unit, custom, min: 0, ...(max === undefined ? {} : { max }) };
  return panel('timeseries', title, lines, {
    description,
    fieldConfig: fieldsOf(lines, defaults),
    options: {
      legend: { displayMode: 'table', placement: 'bottom', calcs: ['lastNotNull', 'max'], showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  });
}

/** A number; with a limit it has the colour of a verdict. */
export function stat(title, lines, { unit = 'short', description, ...limits }) {
  const isVerdict = Object.keys(limits).length > 0;
  const thresholds = { mode: 'absolute', steps: stepsOf(limits) };
  return panel('stat', title, lines, {
    description,
    fieldConfig: { defaults: { unit, thresholds }, overrides: [] },
    options: {
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
      colorMode: isVerdict ? 'background' : 'value',
      graphMode: 'none',
    },
  });
}

/** Counts by bucket over time. `unit`: of the bounds; absent if namings differ in it. */
export function heatmap(title, expr, options) {
  return bands(title, line(expr, '{{le}}'), 'heatmap', options);
}

/** Values over time, in one band for each series. `label`: of the bands, a number in this unit. */
export function valueHeatmap(title, expr, label, options) {
  return bands(title, line(expr, `{{${label}}}`), 'time_series', options);
}

/** With the format `heatmap`, Grafana subtracts from each series the one before, as the counts of classic buckets need it. */
function bands(title, one, format, { unit, description }) {
  return panel(
    'heatmap',
    title,
    [one],
    {
      description,
      fieldConfig: { defaults: {}, overrides: [] },
      options: {
        calculate: false,
        yAxis: unit === undefined ? {} : { unit },
        color: { mode: 'scheme', scheme: 'Blues', steps: 64 },
        cellGap: 1,
        tooltip: { mode: 'single' },
        legend: { show: true },
      },
    },
    { format },
  );
}

/** The present values of a query, the largest at the top, as bars. */
export function ranking(title, lines, { unit, description, ...limits }) {
  const thresholds = { mode: 'absolute', steps: stepsOf(limits) };
  return panel(
    'bargauge',
    title,
    lines,
    {
      description,
      fieldConfig: fieldsOf(lines, { unit, min: 0, thresholds }),
      options: {
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        displayMode: 'basic',
        orientation: 'horizontal',
        sizing: 'auto',
      },
    },
    { instant: true },
  );
}

/**
 * A row for each set of labels that the queries share: their other labels and their present values stand beside each other.
 * `columns`: headings with the field, which is a label or the letter of a query, and the unit of values.
 */
export function table(title, expressions, { columns, description }) {
  const fieldOf = (field) => (/^[A-Z]$/.test(field) ? `Value #${field}` : field);
  const names = columns.map(([heading, field]) => [fieldOf(field), heading]);
  const overrides = columns
    .filter(([, , unit]) => unit !== undefined)
    .map(([heading, , unit]) => ({
      matcher: { id: 'byName', options: heading },
      properties: [{ id: 'unit', value: unit }],
    }));
  const lines = expressions.map((expr) => line(expr, ''));
  const shown = {
    description,
    fieldConfig: { defaults: { custom: { align: 'auto' } }, overrides },
    options: { showHeader: true, cellHeight: 'sm' },
    transformations: [
      { id: 'merge', options: {} },
      { id: 'filterFieldsByName', options: { include: { names: names.map(([field]) => field) } } },
      {
        id: 'organize',
        options: {
          indexByName: Object.fromEntries(names.map(([field], i) => [field, i])),
          renameByName: Object.fromEntries(names),
        },
      },
    ],
  };
  return panel('table', title, lines, shown, { instant: true, format: 'table' });
}

/**
 * A row: its title, its panels, how many stand side by side, and their height. Grafana asks for the panels of a collapsed row
 * when a user opens it.
 */
export function row(title, panels, { columns = 3, height = 8, collapsed = false } = {}) {
  return { title, panels, columns, height, collapsed };
}

/** Returns the panels of all rows with their places. A collapsed row holds its panels; others stand before theirs. */
export function laidOut(rows) {
  let count = 0;
  let y = 0;
  const placed = (one, gridPos) => ({ id: ++count, ...one, gridPos });
  return rows.flatMap(({ title, panels, columns, height, collapsed }) => {
    const head = placed({ type: 'row', title, collapsed, panels: [] }, { h: 1, w: WIDTH, x: 0, y });
    y += 1;
    const inside = [];
    for (let first = 0; first < panels.length; first += columns, y += height) {
      const side = panels.slice(first, first + columns);
      const w = WIDTH / side.length;
      inside.push(...side.map((one, i) => placed(one, { h: height, w, x: i * w, y })));
    }
    return collapsed ? [{ ...head, panels: inside }] : [head, ...inside];
  });
}

/** A choice among the values of a label. All values are chosen at first, and a series without the label is among them. */
function labelVariable(name, series, { label = name, text = name } = {}) {
  return choice(name, text, `label_values(${series}, ${label})`);
}

/** Choices of targets, each among what the earlier ones leave. `series`: of which each target has one. */
export function targetVariables(series) {
  const chosen = [];
  return [['cluster'], ['namespace'], ['node'], ['host', { label: 'instance', text: 'host (instance)' }]].map(
    ([name, options = {}]) => {
      const { label = name } = options;
      const variable = labelVariable(name, `${series}{${chosen.join(', ')}}`, options);
      chosen.push(`${label}=~"$${name}"`);
      return variable;
    },
  );
}

/** A choice among the values that a query's series have for the label. */
export function queryVariable(name, expr) {
  return { ...choice(name, name, `query_result(${expr})`), regex: `/${name}="([^"]*)"/` };
}

function choice(name, label, query) {
  return {
    name,
    label,
    type: 'query',
    datasource: DATASOURCE,
    query: { query, refId: name },
    definition: query,
    refresh: 2,
    sort: 3,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { selected: true, text: ['All'], value: ['$__all'] },
  };
}

/** Hidden, and not taken from the address of a page, which could lead links elsewhere. */
function constant(name, value) {
  return { name, type: 'constant', query: value, hide: 2, skipUrlSync: true };
}

/** Marks on all graphs, where the query has a value. */
export function annotation(name, color, expr, textFormat) {
  return {
    name,
    datasource: DATASOURCE,
    enable: true,
    iconColor: color,
    expr,
    step: '60s',
    titleFormat: name,
    textFormat,
  };
}

export function dashboard({ uid, title, description, variables, annotations, rows, links }) {
  return {
    uid,
    title,
    description,
    tags: ['nixl'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    timezone: 'browser',
    annotations: { list: annotations },
    links,
    templating: {
      list: [
        { name: 'datasource', label: 'data source', type: 'datasource', query: 'prometheus', current: {} },
        ...variables,
        constant(BASE, RUNBOOK_BASE),
      ],
    },
    panels: laidOut(rows),
  };
}

/** A link to another dashboard of this folder, with the same time and variables. */
export function dashboardLink(title, uid) {
  return { title, type: 'link', url: `/d/${uid}`, keepTime: true, includeVars: true, icon: 'dashboard' };
}
