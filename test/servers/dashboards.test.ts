/**
 * Each expression of the dashboard and of the rules, evaluated by a real Prometheus that scrapes a real serve: in either
 * naming, with either preset of series, as text and as protobuf with native histograms.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT, start, startTransferSource, temporaryDirectory } from '../cli/command.js';
import { Backend, NATIVE_HISTOGRAMS, PATIENTLY, type Series, START_TIMES } from './backends.js';
import { program, Server } from './server.js';

const exec = promisify(execFile);
const RULES = path.join(ROOT, 'deploy/prometheus');
const DASHBOARD = JSON.parse(readFileSync(path.join(ROOT, 'deploy/grafana/nixl-agents.json'), 'utf8')) as Dashboard;
/** Choices of the dashboard: from a naming to its label for the agent. */
const NAMINGS = Object.fromEntries(
  (DASHBOARD.templating.list.find(({ name }) => name === 'naming')!.query as string)
    .split(', ')
    .map((choice) => choice.split(' : ') as [string, string]),
);

interface Dashboard {
  panels: { title: string; type: string; targets?: { expr: string; legendFormat: string }[] }[];
  templating: { list: { name: string; type: string; query: string | { query: string } }[] };
}

interface Rule {
  name: string;
  type: 'recording' | 'alerting';
  query: string;
  health: string;
  lastError?: string;
}

type Scrape = 'text' | 'native';
const SCRAPES: [preset: string, scrape: Scrape][] = [
  ['standard', 'text'],
  ['full', 'text'],
  ['standard', 'native'],
];
const PROTOCOLS: Record<Scrape, string> = { text: 'PrometheusText0.0.4', native: 'PrometheusProto' };
/** Those of compose.yaml. Without protobuf they have no effect. */
const FEATURES = [NATIVE_HISTOGRAMS, START_TIMES].join(',');

/** Agents at work with errors and restarts, and serves of both namings over them. */
async function startPrometheus(preset: string, scrape: Scrape): Promise<Backend> {
  const targets: string[] = [];
  for (const naming of Object.keys(NAMINGS)) {
    const dir = temporaryDirectory();
    const serve = start(['serve', '--dir', dir, '--port', '0', '--naming', naming, '--series', preset]);
    const [, url] = await serve.says(/serves (http:\S+)/);
    targets.push(new URL(url!).host);
    const work = ['--seconds', '0', '--rate', '200', '--errors', '20'];
    startTransferSource(['--dir', dir, ...work, '--agents', '2']);
    startTransferSource(['--dir', dir, ...work, '--name', 'again', '--restart-every', '3000']);
  }
  const server = await Server.start({
    program: 'prometheus',
    ready: '/-/ready',
    args: (directory, address) => {
      const config = path.join(directory, 'prometheus.yml');
      const global = { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' };
      const rule_files = [path.join(RULES, 'recording-rules.yml'), path.join(RULES, 'alerts.yml')];
      const job = { job_name: 'nixl-otel', scrape_protocols: [PROTOCOLS[scrape]], static_configs: [{ targets }] };
      writeFileSync(config, JSON.stringify({ global, rule_files, scrape_configs: [job] })); // JSON is YAML
      const storage = path.join(directory, 'data');
      return [
        `--enable-feature=${FEATURES}`,
        `--config.file=${config}`,
        `--storage.tsdb.path=${storage}`,
        `--web.listen-address=${address}`,
      ];
    },
  });
  return new Backend(server);
}

/** Replaces variables like Grafana, with all values chosen. */
function filledIn(text: string, naming: string): string {
  const values = { naming: NAMINGS[naming]!, host: '.+', agent: '.+', __rate_interval: '10s' };
  const filled = text.replace(/\$(\w+)/g, (_, name: string) => values[name as keyof typeof values]);
  expect(filled).not.toContain('undefined');
  return filled;
}

/** Rules for builders and NixlInstrumentation, which do not run here: rules.test.yml has their series. */
const ELSEWHERE = ['nixl:builders_events:increase5m', 'nixl:duration_events:increase5m', 'NixlEventsPassedBy'];

const hasData = (series: readonly Series[]): boolean =>
  series.some(({ values }) => values.some((value) => Number.isFinite(value)));

/** Text of a legend for a series, trimmed. */
function legendOf(format: string, { metric }: Series): string {
  return format.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '').trim();
}

it.each(SCRAPES)('answers every expression with data, in either naming: preset %s, scraped as %s', async (...from) => {
  const prometheus = await startPrometheus(...from);
  const panels = DASHBOARD.panels.filter(({ type }) => type !== 'row');
  expect(panels.length).toBeGreaterThan(25);

  for (const naming of Object.keys(NAMINGS)) {
    await expect
      .poll(async () => {
        const empty: string[] = [];
        for (const { title, targets } of panels) {
          const answers = await Promise.all(targets!.map(({ expr }) => prometheus.query(filledIn(expr, naming))));
          if (!answers.some(hasData)) empty.push(`${naming}: ${title}`);
        }
        return empty;
      }, PATIENTLY)
      .toEqual([]);
  }

  // A scrape that times out takes the series of an instance away until the next one: the queries are repeated.
  // Each histogram has been scraped in the one form, and only in that.
  const [, scrape] = from;
  const forms = { text: 'agent_xfer_time_us_bucket', native: 'agent_xfer_time_us' };
  for (const [form, name] of Object.entries(forms)) {
    const isThere = async (): Promise<boolean> => hasData(await prometheus.query(name));
    await expect.poll(isThere, { ...PATIENTLY, message: form }).toBe(form === scrape);
  }

  for (const { title, type, targets } of panels) {
    for (const { expr, legendFormat } of targets!) {
      const ask = () => Promise.all(Object.keys(NAMINGS).map((naming) => prometheus.query(filledIn(expr, naming))));
      let answers: Series[][] = [];
      const isAnswered = async (): Promise<boolean> => (answers = await ask()).some(hasData);
      await expect.poll(isAnswered, { ...PATIENTLY, message: `${title}: ${expr}` }).toBe(true);
      for (const series of answers) {
        const legends = series.map((one) => legendOf(legendFormat, one));
        expect({ title, expr, legends: [...new Set(legends)] }).toEqual({ title, expr, legends });
        // A native histogram is one series with all buckets.
        if (!(scrape === 'native' && type === 'heatmap')) expect(legends).not.toContain('');
      }
    }
  }

  for (const { name, query } of DASHBOARD.templating.list.filter(({ type }) => type === 'query')) {
    const { query: text } = query as { query: string };
    for (const naming of Object.keys(NAMINGS)) {
      const [, selector, label] = /^label_values\((.*), (\w+)\)$/.exec(filledIn(text, naming))!;
      const { data } = await prometheus.server.get<{ data: string[] }>(`/api/v1/label/${label}/values`, {
        'match[]': selector!,
      });
      expect({ naming, name, data }).toEqual(
        name === 'host'
          ? { naming, name, data: [expect.stringMatching(/^127\.0\.0\.1:\d+$/)] }
          : { naming, name, data: ['again-0', 'agent-0', 'agent-1'].sort() },
      );
    }
  }

  const rules = async (): Promise<Rule[]> => {
    const { data } = await prometheus.server.get<{ data: { groups: { rules: Rule[] }[] } }>('/api/v1/rules');
    return data.groups.flatMap((group) => group.rules);
  };
  expect((await rules()).length).toBeGreaterThan(15);
  await expect.poll(async () => (await rules()).filter(({ health }) => health !== 'ok'), PATIENTLY).toEqual([]);
  for (const { name, type, query } of (await rules()).filter(({ name }) => !ELSEWHERE.includes(name))) {
    // Without a problem an alert has no data, but its operands have.
    const compared = type === 'alerting' ? /^(.*) (?:==|>|<) [\d.]+$/s.exec(query)![1]! : name;
    const message = `${name}: ${compared}`;
    await expect.poll(async () => hasData(await prometheus.query(compared)), { ...PATIENTLY, message }).toBe(true);
    if (type === 'alerting') continue;
    const instances = async (): Promise<number> => (await prometheus.query(`group by (instance) (${name})`)).length;
    await expect.poll(instances, { ...PATIENTLY, message: `${name}: instances` }).toBe(2);
  }
  const isPending = 'group by (alertname) (ALERTS{alertname="NixlErrorRatioHigh"})';
  await expect.poll(() => prometheus.number(isPending), PATIENTLY).toBe(1);
});

it('passes the unit tests of its rules', async () => {
  const promtool = program('promtool');
  const inRules = { cwd: RULES };
  await exec(promtool, ['check', 'rules', 'recording-rules.yml', 'alerts.yml'], inRules);
  const { stdout } = await exec(promtool, ['test', 'rules', 'rules.test.yml'], inRules);
  expect(stdout).toContain('SUCCESS');
});
