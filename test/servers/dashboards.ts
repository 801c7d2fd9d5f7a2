/** Each expression of the dashboards and of the recording rules has data in a real Prometheus. */
import { expect } from 'vitest';
import { type Backend, PATIENTLY, type Series } from './backends.js';
import {
  comparedIn,
  type Dashboard,
  DASHBOARDS,
  filledIn,
  needsFull,
  needsHost,
  PANELS,
  type Variable,
} from './dashboard-files.js';
import { type Beside, isNative, NAMINGS, PLACE, type SpelledFleet, startFleet, type Way } from './spelled-fleet.js';

interface Rule {
  name: string;
  type: 'recording' | 'alerting';
  query: string;
  health: string;
  lastError?: string;
}

/** Rules for builders and NixlInstrumentation, which run in the services. */
const OF_SERVICES = ['nixl:builders_events:increase5m', 'nixl:duration_events:increase5m'];

/** Each panel, variable, annotation and recording rule has data in both namings; other presets than `full` lack some panels, and those of the host need a node_exporter. */
export async function expectAnswers(preset: string, way: Way, beside: Beside): Promise<void> {
  const fleet = await startFleet(preset, way, beside);
  await expectOneForm(fleet, way);
  await expectPanels(fleet, preset, way, beside);
  for (const dashboard of DASHBOARDS) await expectVariables(fleet, dashboard);
  await expectRules(fleet);
}

const hasData = (series: readonly Series[]): boolean =>
  series.some(({ values }) => values.some((value) => Number.isFinite(value)));

/** Text of a legend for a series, trimmed. */
function legendOf(format: string, { metric }: Series): string {
  return format.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '').trim();
}

/** Each histogram of serve has arrived in the one form, and only in that. */
async function expectOneForm({ prometheus, serves }: SpelledFleet, way: Way): Promise<void> {
  const forms = { native: 'agent_xfer_time_us', classic: 'agent_xfer_time_us_bucket' };
  for (const [form, name] of Object.entries(forms)) {
    const isThere = async (): Promise<boolean> =>
      hasData(await prometheus.query(`${name}{instance="${serves['nixl']}"}`));
    await expect.poll(isThere, { ...PATIENTLY, message: form }).toBe((form === 'native') === isNative(way));
  }
}

/** A scrape that times out takes the series of an instance away until the next one: queries are repeated. */
async function expectPanels(
  { prometheus, serves }: SpelledFleet,
  preset: string,
  way: Way,
  beside: Beside,
): Promise<void> {
  expect(PANELS.length).toBeGreaterThan(70);
  expect(PANELS.filter(needsFull).length).toBeGreaterThan(2);
  for (const { title, type, description, targets } of PANELS) {
    expect(typeof description, title).toBe('string');
    for (const { expr, legendFormat } of targets!) {
      for (const naming of NAMINGS) {
        const ask = () => prometheus.query(filledIn(expr, { host: serves[naming]! }));
        if (needsHost(expr)) expect(description, title).toContain('Needs node_exporter');
        if ((preset !== 'full' && needsFull({ description })) || (beside === 'none' && needsHost(expr))) {
          expect(await ask(), title).toEqual([]);
          continue;
        }
        let series: Series[] = [];
        const isAnswered = async (): Promise<boolean> => hasData((series = await ask()));
        await expect.poll(isAnswered, { ...PATIENTLY, message: `${naming}: ${title}: ${expr}` }).toBe(true);
        if (type === 'table') continue;
        const legends = series.map((one) => legendOf(legendFormat, one));
        expect({ title, expr, legends: [...new Set(legends)] }).toEqual({ title, expr, legends });
        // A native histogram is one series with all buckets.
        if (!(isNative(way) && legendFormat === '{{le}}')) expect(legends).not.toContain('');
      }
    }
  }

  if (preset === 'full') await expectClasses(prometheus, serves);
  await expectTable(prometheus, serves);

  // A chosen agent is the only one, whichever label has its name.
  const { expr, legendFormat } = PANELS.find(({ title }) => title === 'Idle')!.targets![0]!;
  for (const naming of NAMINGS) {
    const chosen = async () => {
      const series = await prometheus.query(filledIn(expr, { host: serves[naming]!, agent: '(agent-0)' }));
      return series.map((one) => legendOf(legendFormat, one));
    };
    await expect.poll(chosen, PATIENTLY).toEqual([`agent-0 ${serves[naming]}`]);
  }
}

/** Grafana makes a row of the series with the same labels of an agent: each query has one for each agent, and no other labels that differ. */
async function expectTable(prometheus: Backend, serves: SpelledFleet['serves']): Promise<void> {
  const { targets } = PANELS.find(({ type }) => type === 'table')!;
  for (const { expr } of targets!) {
    for (const naming of NAMINGS) {
      const agents = async () => {
        const series = await prometheus.query(filledIn(expr, { host: serves[naming]! }));
        return series.map(({ metric }) => metric['agent']).sort();
      };
      await expect
        .poll(agents, { ...PATIENTLY, message: `${naming}: ${expr}` })
        .toEqual(['again-0', 'agent-0', 'agent-1']);
    }
  }
}

/** The agents move three sizes, which three classes have. */
async function expectClasses(prometheus: Backend, serves: SpelledFleet['serves']): Promise<void> {
  const { expr } = PANELS.find(({ title }) => title === 'Transfers in flight by class')!.targets![0]!;
  for (const naming of NAMINGS) {
    const classes = async () => {
      const series = await prometheus.query(filledIn(expr, { host: serves[naming]! }));
      return series.map(({ metric }) => Number(metric['up_to_bytes'])).sort((a, b) => a - b);
    };
    await expect.poll(classes, { ...PATIENTLY, message: naming }).toEqual([4096, 65_536, 1_048_576]);
  }
}

async function expectVariables(fleet: SpelledFleet, { templating, annotations }: Dashboard): Promise<void> {
  const { prometheus, serves, services } = fleet;
  for (const variable of templating.list.filter(({ type }) => type === 'query')) {
    const wanted = {
      ...Object.fromEntries(Object.entries(PLACE).map(([label, value]) => [label, [value]])),
      host: [serves, services].flatMap((instances) => Object.values(instances)).sort(),
      agent: ['again-0', 'agent-0', 'agent-1'],
    }[variable.name]!;
    for (const naming of NAMINGS) {
      const choices = async () => (await choicesOf(variable, prometheus, serves[naming]!)).sort();
      await expect.poll(choices, { ...PATIENTLY, message: `${naming}: ${variable.name}` }).toEqual(wanted);
    }
  }
  for (const { name, expr } of annotations.list) {
    const compared = comparedIn(expr);
    for (const naming of NAMINGS) {
      const isAnswered = async () => hasData(await prometheus.query(filledIn(compared, { host: serves[naming]! })));
      await expect.poll(isAnswered, { ...PATIENTLY, message: `${naming}: ${name}` }).toBe(true);
    }
  }
}

/** Returns the values that Grafana offers for a variable. */
async function choicesOf({ query, regex }: Variable, prometheus: Backend, host: string): Promise<string[]> {
  const text = filledIn((query as { query: string }).query, { host });
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

async function expectRules({ prometheus, serves, services }: SpelledFleet): Promise<void> {
  const rules = async (): Promise<Rule[]> => {
    const { data } = await prometheus.server.get<{ data: { groups: { rules: Rule[] }[] } }>('/api/v1/rules');
    return data.groups.flatMap((group) => group.rules);
  };
  const all = await rules();
  expect(all.length).toBeGreaterThan(50);
  await expect.poll(async () => (await rules()).filter(({ health }) => health !== 'ok'), PATIENTLY).toEqual([]);
  for (const { name } of all.filter(({ type }) => type === 'recording')) {
    await expect.poll(async () => hasData(await prometheus.query(name)), { ...PATIENTLY, message: name }).toBe(true);
    if (name.startsWith('nixl_service:')) continue; // of all hosts together
    const hosts = Object.values(OF_SERVICES.includes(name) ? services : serves).sort();
    const found = async (): Promise<string[]> => {
      const series = await prometheus.query(`group by (instance) (${name})`);
      return series.map(({ metric }) => metric['instance']!).filter((instance) => hosts.includes(instance));
    };
    await expect.poll(async () => (await found()).sort(), { ...PATIENTLY, message: name }).toEqual(hosts);
  }
  const isPending = 'count by (alertname) (group by (alertname, instance) (ALERTS{alertname="NixlErrorRatioHigh"}))';
  await expect.poll(() => prometheus.number(isPending), PATIENTLY).toBe(2);
}
