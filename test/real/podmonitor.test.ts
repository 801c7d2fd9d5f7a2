/** The chart's PodMonitor on a real Prometheus 3: pods of one node during an update of the DaemonSet. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type RunningCommand, start, startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { onlyOf, SERVES } from '../deploy/manifests.js';
import { type Backend, startConfigured } from '../servers/backends.js';
import { ChartTools, type Values } from './chart.js';
import { providePrometheus } from './tools.js';

const tools = (await providePrometheus()) ? await ChartTools.build() : undefined;

const image = { repository: 'registry.example.com/nixl-otel' };
const INSTANCE = 'app.kubernetes.io/instance';
const TICKS = 'nixl_collector_ticks_total';

interface Pod {
  name: string;
  port: number;
  phase?: string;
  /** Kind of what made the pod. */
  kind?: string;
}

type Rule = Record<string, unknown>;

interface Monitor {
  selector: { matchLabels: Record<string, string> };
  podMetricsEndpoints: { relabelings: Rule[]; metricRelabelings?: Rule[] }[];
}

const monitorOf = (values: Values): Monitor =>
  onlyOf<Monitor>(tools!.manifests({ image, ...values, podMonitor: { enabled: true } }), 'PodMonitor').spec;

/** Rules in the spelling of Prometheus: source_labels in place of sourceLabels. */
const spelled = (rules: readonly Rule[] = []): Rule[] =>
  rules.map((rule) =>
    Object.fromEntries(
      Object.entries(rule).map(([key, value]) => [key.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`), value]),
    ),
  );

/** Starts a Prometheus that scrapes these pods of the node n1 as the operator lets it by the PodMonitor. */
function scrape(values: Values, pods: readonly Pod[]): Promise<Backend> {
  const [endpoint] = monitorOf(values).podMetricsEndpoints;
  const static_configs = pods.map(({ name, port, phase = 'Running', kind = 'DaemonSet' }) => ({
    targets: [`127.0.0.1:${port}`],
    labels: {
      namespace: 'monitoring', // the operator adds these two
      pod: name,
      __meta_kubernetes_pod_node_name: 'n1',
      __meta_kubernetes_pod_controller_kind: kind,
      __meta_kubernetes_pod_phase: phase,
    },
  }));
  const relabel_configs = spelled(endpoint!.relabelings);
  const metric_relabel_configs = spelled(endpoint!.metricRelabelings);
  return startConfigured({
    global: { scrape_interval: '500ms', scrape_timeout: '500ms' },
    scrape_configs: [{ job_name: 'pods', static_configs, relabel_configs, metric_relabel_configs }],
  });
}

async function serveFrom(directory: string, ...flags: string[]): Promise<{ serve: RunningCommand; port: number }> {
  const serve = start(['serve', '--listen', ':0', ...flags], {
    NIXL_TELEMETRY_DIR: directory,
    NIXL_OTEL_HOSTNAME: 'n1',
  });
  const [, port] = await serve.says(SERVES);
  return { serve, port: Number(port) };
}

/** A directory in which an agent writes until the test ends. */
function busyDirectory(): string {
  const directory = temporaryDirectory();
  startTransferSource(['--agents', '1', '--seconds', '0', '--dir', directory]);
  return directory;
}

async function labels(prometheus: Backend, expression: string, label: string): Promise<string[]> {
  return (await prometheus.query(expression)).map(({ metric }) => metric[label] ?? '').sort();
}

describe.runIf(tools !== undefined)('the PodMonitor', () => {
  test.each([
    ['nixl', 'agent_tx_bytes_total'],
    ['otel', 'nixl_transfer_requests_total{nixl_transfer_direction="transmit"}'],
  ])('keeps two pods of one node apart, and continues the series of agents in naming %s', async (naming, sent) => {
    const directory = busyDirectory();
    const old = await serveFrom(directory, '--naming', naming);
    const drained = async (port: number) =>
      /^nixl_agent_up\{/m.test(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    await until(() => drained(old.port));
    const surge = await serveFrom(directory, '--naming', naming);
    const prometheus = await scrape({}, [
      { name: 'old', port: old.port },
      { name: 'surge', port: surge.port },
    ]);
    await prometheus.answers('count(count_over_time(up[1m]) > 4)', 2);
    for (const own of ['up', TICKS, 'nixl_exporter_exports_total', 'nixl_otel_build_info']) {
      expect(await labels(prometheus, `count by (pod) (last_over_time(${own}[1m]))`, 'pod'), own).toEqual([
        'old',
        'surge',
      ]);
      expect(
        await labels(prometheus, `count by (job, instance, node) (last_over_time(${own}[1m]))`, 'instance'),
        own,
      ).toEqual(['n1']);
    }
    expect(await prometheus.number(`max(resets(${TICKS}[1m]))`)).toBe(0);
    await prometheus.answers(`count(${sent})`, 1);

    await old.serve.stop('SIGKILL');
    await prometheus.answers('max_over_time(up{pod="old"}[1s])', 0);
    await prometheus.answers('up{pod="surge"}', 1);
    await until(() => drained(surge.port));
    await prometheus.answers(`count(increase(${sent}[2s]) > 0)`, 1);
    expect(await labels(prometheus, `last_over_time(${sent}[1m])`, 'pod')).toEqual(['']);
    expect(await labels(prometheus, 'last_over_time(nixl_ring_full_total[1m])', 'pod')).toEqual(['']);
    expect(await prometheus.number(`resets(${sent}[1m])`)).toBe(0);
  });

  test('gives series that name the pod of an agent its labels in the place of those of nixl-otel', async () => {
    const own = { namespace: 'serving', pod: 'decode-0', container: 'vllm' };
    const config = path.join(temporaryDirectory(), 'nixl-otel.json');
    // As labels of every series of an agent: nixl.agent.info alone has those of the kubelet.
    const attributes = Object.entries(own).map(([name, constant]) => ({ name, source: { constant }, type: 'text' }));
    writeFileSync(config, JSON.stringify({ attributes }));
    const { port } = await serveFrom(busyDirectory(), '--config', config);
    const prometheus = await scrape({}, [{ name: 'serve', port }]);
    await prometheus.answers('count(nixl_agent_info)', 1);
    const [info] = await prometheus.query('nixl_agent_info');
    expect(info!.metric).toMatchObject({ ...own, instance: 'n1' });
    expect(Object.keys(info!.metric).filter((name) => name.startsWith('exported_'))).toEqual([]);
    const [ticks] = await prometheus.query(TICKS);
    expect(ticks!.metric).toMatchObject({ namespace: 'monitoring', pod: 'serve' });
  });

  test('leaves the pods of sidecars their addresses', async () => {
    const directory = busyDirectory();
    const { port } = await serveFrom(directory);
    const values = { mode: 'sidecar' };
    const prometheus = await scrape(values, [{ name: 'decode', port, kind: 'ReplicaSet' }]);
    await prometheus.answers('count(agent_tx_bytes_total)', 1);
    for (const series of ['up', TICKS, 'agent_tx_bytes_total']) {
      expect(await labels(prometheus, series, 'pod'), series).toEqual(['decode']);
      expect(await labels(prometheus, series, 'instance'), series).toEqual([`127.0.0.1:${port}`]);
    }
  });

  test.each([
    ['sidecar', ['Running', 'Unknown']],
    ['daemonset', ['Pending', 'Running', 'Unknown']], // make-directory may refuse for ever, which NixlOtelDown reports
  ])('in mode %s scrapes pods in the phases %s', async (mode, scraped) => {
    const phases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];
    const pods = phases.map((phase, i) => ({ name: phase, port: i + 1, phase }));
    const prometheus = await scrape({ mode }, pods);
    await prometheus.answers('count(up)', scraped.length);
    expect(await labels(prometheus, 'up', 'pod')).toEqual(scraped);
  });

  test('selects the pods of one release of the DaemonSet, and of all releases of sidecars', () => {
    const scrape = { 'nixl-otel/scrape': 'true' };
    expect(monitorOf({}).selector.matchLabels).toEqual({ ...scrape, [INSTANCE]: 'nixl-otel' });
    expect(monitorOf({ mode: 'sidecar' }).selector.matchLabels).toEqual(scrape);
    expect(monitorOf({ dynamo: true }).selector.matchLabels).toEqual(scrape);
    const manifests = tools!.manifests({ image });
    const { template } = onlyOf<{ template: { metadata: { labels: object } } }>(manifests, 'DaemonSet').spec;
    expect(template.metadata.labels).toMatchObject(monitorOf({}).selector.matchLabels);
  });
});
