/**
 * Each expression of the dashboards and of the recording rules, evaluated by a real Prometheus: in either naming, with either
 * preset of series, scraped as text and as protobuf with native histograms, and by OTLP.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../cli/command.js';
import { type Backend, PATIENTLY, type Series } from './backends.js';
import { NAMINGS, PLACE, startFleet, type Way } from './spelled-fleet.js';

interface Panel {
  title: string;
  type: string;
  description: string;
  targets?: { expr: string; legendFormat: string }[];
}

interface Variable {
  name: string;
  type: string;
  query: string | { query: string };
  regex?: string;
}

interface Dashboard {
  panels: Panel[];
  templating: { list: Variable[] };
  annotations: { list: { name: string; expr: string }[] };
}

interface Rule {
  name: string;
  type: 'recording' | 'alerting';
  query: string;
  health: string;
  lastError?: string;
}

const DASHBOARDS = ['nixl-agents', 'nixl-fleet'].map(
  (name) => JSON.parse(readFileSync(path.join(ROOT, `deploy/grafana/${name}.json`), 'utf8')) as Dashboard,
);
const PANELS = DASHBOARDS.flatMap(({ panels }) => panels).filter(({ type }) => type !== 'row');

/** Rules for builders and NixlInstrumentation, which do not run here: the cases of rules.test.ts have their series. */
const ELSEWHERE = ['nixl:builders_events:increase5m', 'nixl:duration_events:increase5m'];

/** Replaces variables like Grafana, with all values chosen but those of the arguments. */
function filledIn(text: string, host: string, agent = '.*'): string {
  const all = { cluster: '.*', namespace: '.*', node: '.*' };
  const values: Record<string, string> = { ...all, host, agent, __rate_interval: '10s', __range: '1m' };
  const filled = text.replace(/\$(\w+)/g, (_, name: string) => values[name]!);
  expect(filled).not.toContain('undefined');
  return filled;
}

const hasData = (series: readonly Series[]): boolean =>
  series.some(({ values }) => values.some((value) => Number.isFinite(value)));

/** Text of a legend for a series, trimmed. */
function legendOf(format: string, { metric }: Series): string {
  return format.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '').trim();
}

/** Returns the values that Grafana offers for a variable. */
async function choicesOf({ query, regex }: Variable, prometheus: Backend, host: string): Promise<string[]> {
  const text = filledIn((query as { query: string }).query, host);
  const [, labelled, label] = /^label_values\((.*), (\w+)\)$/.exec(text) ?? [];
  if (labelled !== undefined) {
    const { data } = await prometheus.server.get<{ data: string[] }>(`/api/v1/label/${label}/values`, {
      'match[]': labelled,
    });
    return data;
  }
  const [, expression] = /^query_result\((.*)\)$/s.exec(text)!;
  const pattern = new RegExp(regex!.slice(1, -1));
  const answers = await prometheus.query(expression!);
  // As Grafana writes a series.
  const lines = answers.map(
    ({ metric }) =>
      `{${Object.entries(metric)
        .map(([key, value]) => `${key}="${value}"`)
        .join(', ')}} 1 0`,
  );
  return lines.map((one) => pattern.exec(one)![1]!).sort();
}

it.each<[preset: string, way: Way]>([
  ['standard', 'text'],
  ['full', 'text'],
  ['standard', 'native'],
  ['standard', 'otlp'],
])('answers every expression with data, in either naming: preset %s, by %s', async (preset, way) => {
  const { prometheus, instances } = await startFleet(preset, way);
  expect(PANELS.length).toBeGreaterThan(60);

  // Each histogram has been scraped in the one form, and only in that.
  const forms = { native: 'agent_xfer_time_us', text: 'agent_xfer_time_us_bucket' };
  for (const [form, name] of Object.entries(forms)) {
    const isThere = async (): Promise<boolean> => hasData(await prometheus.query(name));
    await expect.poll(isThere, { ...PATIENTLY, message: form }).toBe((form === 'native') === (way === 'native'));
  }

  // A scrape that times out takes the series of an instance away until the next one: the queries are repeated.
  for (const { title, type, description, targets } of PANELS) {
    expect(typeof description, title).toBe('string');
    for (const { expr, legendFormat } of targets!) {
      for (const naming of NAMINGS) {
        const ask = () => prometheus.query(filledIn(expr, instances[naming]!));
        let series: Series[] = [];
        const isAnswered = async (): Promise<boolean> => hasData((series = await ask()));
        await expect.poll(isAnswered, { ...PATIENTLY, message: `${naming}: ${title}: ${expr}` }).toBe(true);
        const legends = series.map((one) => legendOf(legendFormat, one));
        expect({ title, expr, legends: [...new Set(legends)] }).toEqual({ title, expr, legends });
        // A native histogram is one series with all buckets.
        if (!(way === 'native' && type === 'heatmap')) expect(legends).not.toContain('');
      }
    }
  }

  for (const { templating, annotations } of DASHBOARDS) {
    for (const variable of templating.list.filter(({ type }) => type === 'query')) {
      for (const naming of NAMINGS) {
        const wanted = {
          ...Object.fromEntries(Object.entries(PLACE).map(([label, value]) => [label, [value]])),
          host: Object.values(instances).sort(),
          agent: ['again-0', 'agent-0', 'agent-1'],
        }[variable.name]!;
        const choices = async () => (await choicesOf(variable, prometheus, instances[naming]!)).sort();
        await expect.poll(choices, { ...PATIENTLY, message: `${naming}: ${variable.name}` }).toEqual(wanted);
      }
    }
    for (const { name, expr } of annotations.list) {
      // Without what it marks it has no data, but its operand has.
      const [, compared] = /^(.*) (?:>|==) 0$/s.exec(expr)!;
      for (const naming of NAMINGS) {
        const isAnswered = async () => hasData(await prometheus.query(filledIn(compared!, instances[naming]!)));
        await expect.poll(isAnswered, { ...PATIENTLY, message: `${naming}: ${name}` }).toBe(true);
      }
    }
  }

  // A chosen agent is the only one, whichever label has its name.
  const { expr, legendFormat } = PANELS.find(({ title }) => title === 'Idle')!.targets![0]!;
  for (const naming of NAMINGS) {
    const chosen = async () => {
      const series = await prometheus.query(filledIn(expr, instances[naming]!, '(agent-0)'));
      return series.map((one) => legendOf(legendFormat, one));
    };
    await expect.poll(chosen, PATIENTLY).toEqual([`agent-0 ${instances[naming]}`]);
  }

  const rules = async (): Promise<Rule[]> => {
    const { data } = await prometheus.server.get<{ data: { groups: { rules: Rule[] }[] } }>('/api/v1/rules');
    return data.groups.flatMap((group) => group.rules);
  };
  expect((await rules()).length).toBeGreaterThan(45);
  await expect.poll(async () => (await rules()).filter(({ health }) => health !== 'ok'), PATIENTLY).toEqual([]);
  for (const { name } of (await rules()).filter(
    ({ name, type }) => type === 'recording' && !ELSEWHERE.includes(name),
  )) {
    const message = `${name}: both namings`;
    await expect.poll(async () => hasData(await prometheus.query(name)), { ...PATIENTLY, message }).toBe(true);
    if (name.startsWith('nixl_service:')) continue; // of all hosts together
    const found = async (): Promise<number> => (await prometheus.query(`group by (instance) (${name})`)).length;
    await expect.poll(found, { ...PATIENTLY, message }).toBe(2);
  }
  const isPending = 'count by (alertname) (group by (alertname, instance) (ALERTS{alertname="NixlErrorRatioHigh"}))';
  await expect.poll(() => prometheus.number(isPending), PATIENTLY).toBe(2);
});
