/** Agents at work, serves and services of both namings over them, and a Prometheus with the shipped rules that has their series. */
import path from 'node:path';
import { ROOT, RunningCommand, start, startTransferSource, temporaryDirectory } from '../cli/command.js';
import {
  type Backend,
  NATIVE_HISTOGRAMS,
  nativeHistograms,
  OTLP_RECEIVER,
  START_TIMES,
  startConfigured,
  startVictoriaMetrics,
} from './backends.js';
import { startNodeExporter } from './node-exporter.js';
import { RULE_FILES } from './rules/rule-test.js';

/**
 * Ways to the Prometheus: scraped as text, or as protobuf with native histograms; pushed by OTLP, with buckets or with exponential
 * histograms; or pushed to a VictoriaMetrics that translates names as Prometheus 3 does, for a Prometheus without the receiver
 * of OTLP.
 */
export type Way = 'text' | 'protobuf' | 'OTLP' | 'OTLP, exponential' | 'OTLP and VictoriaMetrics';
/** Which exporter of the host the Prometheus scrapes. */
export type Beside = 'node_exporter' | 'none';
export const NAMINGS = ['nixl', 'otel'] as const;
/** Values of the labels of a target, which a Prometheus may set or not. */
export const PLACE = { cluster: 'c-1', namespace: 'n-1', node: 'o-1' };

/** Values of `instance` by naming. */
type Instances = Record<string, string>;

export interface SpelledFleet {
  readonly prometheus: Backend;
  readonly serves: Instances;
  /** Services with NixlInstrumentation and a custom builder. */
  readonly services: Instances;
}

/** Those of compose.yaml. Without protobuf they have no effect. */
const FEATURES = [NATIVE_HISTOGRAMS, START_TIMES];
const INTERVAL = '500ms';
/** Flags of a transfer source: its sizes differ enough in time to give a base time and a rate, also on a busy machine. */
export const LINE_OF_TIME = ['--base-us', '200', '--post-us', '50', '--bandwidth', '1G'];

/** True if the way gives native histograms. */
export function isNative(way: Way): boolean {
  return way === 'protobuf' || way === 'OTLP, exponential';
}

/** By naming three agents of a serve, with errors and restarts, and one of a service; beside them a node_exporter, or none. */
export async function startFleet(preset: string, way: Way, beside: Beside): Promise<SpelledFleet> {
  const ofHost = beside === 'node_exporter' ? [hostJob(new URL((await startNodeExporter()).url).host)] : [];
  if (way === 'text' || way === 'protobuf') {
    const fleet = await startHosts(['--series', preset]);
    const targets = [fleet.serves, fleet.services].flatMap((instances) => Object.values(instances));
    return { ...fleet, prometheus: await startRuled([scrapeJob(targets, way), ...ofHost]) };
  }
  if (way === 'OTLP and VictoriaMetrics') {
    const receiver = await startVictoriaMetrics(['-opentelemetry.usePrometheusNaming']);
    const fleet = await startHosts(['--series', preset], receiver.pushTo);
    return { ...fleet, prometheus: await startRuled([federateJob(new URL(receiver.server.url).host), ...ofHost]) };
  }
  const prometheus = await startRuled(ofHost, OTLP_RECEIVER.flags);
  const histograms = way === 'OTLP' ? [] : ['--histograms', 'exponential'];
  const fleet = await startHosts(['--series', preset, ...histograms], OTLP_RECEIVER.urlAt(prometheus));
  return { ...fleet, prometheus };
}

/** Starts a Prometheus with the shipped rules. It takes labels of targets from resources, as docs/dashboards.md says. */
function startRuled(jobs: readonly object[], flags: readonly string[] = []): Promise<Backend> {
  const global = { scrape_interval: INTERVAL, scrape_timeout: INTERVAL, evaluation_interval: INTERVAL };
  const otlp = { promote_resource_attributes: Object.keys(PLACE) };
  return startConfigured({ global, rule_files: RULE_FILES, scrape_configs: jobs, otlp }, [
    `--enable-feature=${FEATURES.join(',')}`,
    ...flags,
  ]);
}

async function startHosts(flags: string[], pushTo?: string): Promise<Omit<SpelledFleet, 'prometheus'>> {
  const [serves, services]: [Instances, Instances] = [{}, {}];
  for (const naming of NAMINGS) {
    const [directory, ofService] = [temporaryDirectory(), temporaryDirectory()];
    const work = ['--seconds', '0', '--rate', '200', ...LINE_OF_TIME];
    const withErrors = ['--dir', directory, ...work, '--errors', '20'];
    serves[naming] = await startServe(directory, ['--naming', naming, ...flags], naming, pushTo);
    services[naming] = await startService(ofService, naming, pushTo);
    startTransferSource([...withErrors, '--agents', '2']);
    startTransferSource([...withErrors, '--name', 'again', '--restart-every', '3000']);
    startTransferSource(['--dir', ofService, ...work]);
  }
  return { serves, services };
}

/** Returns the value that `instance` will have. */
async function startServe(directory: string, flags: string[], naming: string, pushTo?: string): Promise<string> {
  if (pushTo === undefined) {
    return addressOf(start(['serve', '--dir', directory, '--port', '0', ...flags]));
  }
  const instance = `host-${naming}`;
  start(['serve', '--dir', directory, '--exporter', 'otlp', '--export-interval', '500', ...flags], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: pushTo,
    OTEL_RESOURCE_ATTRIBUTES: resourceOf(instance),
  });
  return instance;
}

async function startService(directory: string, naming: string, pushTo?: string): Promise<string> {
  const args = [path.join(import.meta.dirname, 'service.mjs'), path.join(ROOT, 'dist/index.js'), directory, naming];
  const instance = `service-${naming}`;
  const service = new RunningCommand(process.execPath, [...args, ...(pushTo === undefined ? [] : [pushTo])], {
    OTEL_SERVICE_NAME: 'nixl-otel',
    OTEL_RESOURCE_ATTRIBUTES: resourceOf(instance),
  });
  return pushTo === undefined ? addressOf(service) : instance;
}

function resourceOf(instance: string): string {
  const attributes = { 'service.instance.id': instance, ...PLACE };
  return Object.entries(attributes)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

async function addressOf(command: RunningCommand): Promise<string> {
  const [, url] = await command.says(/serves (http:\S+)/);
  return new URL(url!).host;
}

function scrapeJob(targets: string[], way: 'text' | 'protobuf'): object {
  const protocols = { text: 'PrometheusText0.0.4', protobuf: 'PrometheusProto' };
  const settings = { scrape_protocols: [protocols[way]], ...nativeHistograms() };
  return { job_name: 'nixl-otel', ...settings, static_configs: [{ targets, labels: PLACE }] };
}

function hostJob(target: string): object {
  return { job_name: 'node', static_configs: [{ targets: [target], labels: PLACE }] };
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
