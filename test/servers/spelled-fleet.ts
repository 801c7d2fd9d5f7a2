/** Agents at work, serves of both namings over them, and a Prometheus with the shipped rules that has their series. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { start, startTransferSource, temporaryDirectory } from '../cli/command.js';
import { Backend, NATIVE_HISTOGRAMS, nativeHistograms, START_TIMES, startVictoriaMetrics } from './backends.js';
import { RULE_FILES } from './rules/rule-test.js';
import { Server } from './server.js';

/**
 * `otlp`: pushed to a VictoriaMetrics that translates names as Prometheus 3 does, from which Prometheus takes them. Debian's
 * Prometheus is built without its OTLP receiver.
 */
export type Way = 'text' | 'native' | 'otlp';
export const NAMINGS = ['nixl', 'otel'] as const;
/** Values of the labels of a target, which a Prometheus may set or not. */
export const PLACE = { cluster: 'c-1', namespace: 'n-1', node: 'o-1' };

export interface SpelledFleet {
  readonly prometheus: Backend;
  /** Value of `instance` by naming. */
  readonly instances: Record<string, string>;
}

/** Those of compose.yaml. Without protobuf they have no effect. */
const FEATURES = [NATIVE_HISTOGRAMS, START_TIMES].join(',');
const PROTOCOLS = { text: 'PrometheusText0.0.4', native: 'PrometheusProto' };

/** Three agents per naming, with errors and restarts. */
export async function startFleet(preset: string, way: Way): Promise<SpelledFleet> {
  const receiver = way === 'otlp' ? await startVictoriaMetrics(['-opentelemetry.usePrometheusNaming']) : undefined;
  const instances: Record<string, string> = {};
  for (const naming of NAMINGS) {
    const directory = temporaryDirectory();
    instances[naming] = await startServe(directory, ['--naming', naming, '--series', preset], naming, receiver?.pushTo);
    const work = ['--seconds', '0', '--rate', '200', '--errors', '20'];
    startTransferSource(['--dir', directory, ...work, '--agents', '2']);
    startTransferSource(['--dir', directory, ...work, '--name', 'again', '--restart-every', '3000']);
  }
  const server = await Server.start({
    program: 'prometheus',
    ready: '/-/ready',
    args: (directory, address) => {
      const config = path.join(directory, 'prometheus.yml');
      const global = { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' };
      const job =
        receiver === undefined
          ? scrapeJob(Object.values(instances), PROTOCOLS[way as keyof typeof PROTOCOLS])
          : federateJob(new URL(receiver.server.url).host);
      // JSON is YAML.
      writeFileSync(config, JSON.stringify({ global, rule_files: RULE_FILES, scrape_configs: [job] }));
      return [
        `--enable-feature=${FEATURES}`,
        `--config.file=${config}`,
        `--storage.tsdb.path=${path.join(directory, 'data')}`,
        `--web.listen-address=${address}`,
      ];
    },
  });
  return { prometheus: new Backend(server), instances };
}

/** Returns the value that `instance` will have. */
async function startServe(directory: string, flags: string[], naming: string, pushTo?: string): Promise<string> {
  if (pushTo === undefined) {
    const serve = start(['serve', '--dir', directory, '--port', '0', ...flags]);
    const [, url] = await serve.says(/serves (http:\S+)/);
    return new URL(url!).host;
  }
  const instance = `host-${naming}`;
  start(['serve', '--dir', directory, '--exporter', 'otlp', '--export-interval', '500', ...flags], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: pushTo,
    OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${instance}`,
  });
  return instance;
}

function scrapeJob(targets: string[], protocol: string): object {
  const settings = { scrape_protocols: [protocol], ...nativeHistograms() };
  return { job_name: 'nixl-otel', ...settings, static_configs: [{ targets, labels: PLACE }] };
}

/** Sets `job` and `instance` as a Prometheus does that receives OTLP. */
export function federateJob(target: string): object {
  return {
    job_name: 'federate',
    metrics_path: '/federate',
    params: { 'match[]': ['{service_name="nixl-otel"}'] },
    honor_labels: true,
    static_configs: [{ targets: [target] }],
    metric_relabel_configs: [
      { source_labels: ['service_name'], target_label: 'job' },
      { source_labels: ['service_instance_id'], target_label: 'instance' },
      ...Object.entries(PLACE).map(([target_label, replacement]) => ({ target_label, replacement })),
      { regex: 'service_.+|scope_.+|telemetry_.+|host_name', action: 'labeldrop' },
    ],
  };
}
