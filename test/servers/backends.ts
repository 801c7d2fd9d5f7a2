/** Prometheus and VictoriaMetrics, and their common language, PromQL. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { program, Server } from './server.js';

/** Limit of waits for conditions: only a condition that never holds exceeds it, also on a machine that has much else to do. */
export const PATIENTLY = { timeout: 240_000, interval: 100 };

export interface Series {
  metric: Record<string, string>;
  /** Stored samples, in order; of a native histogram the number of its values. */
  values: number[];
}

export class Backend {
  readonly server: Server;

  constructor(server: Server) {
    this.server = server;
  }

  /** @throws when the expression is wrong. */
  async query(expression: string): Promise<Series[]> {
    const { data } = await this.server.get<Answer>('/api/v1/query', { query: expression });
    return data.result.map(({ metric, value, values = value && [value], histogram, histograms }) => ({
      metric,
      values:
        values?.map(([, text]) => Number(text)) ?? (histograms ?? [histogram!]).map(([, { count }]) => Number(count)),
    }));
  }

  /** Returns the single number of an expression; undefined while there is none. */
  async number(expression: string): Promise<number | undefined> {
    const series = await this.query(expression);
    return series[0]?.values[0];
  }

  /** Repeats the expression until it has this value. */
  async answers(expression: string, number: number): Promise<void> {
    await expect.poll(() => this.number(expression), { ...PATIENTLY, message: expression }).toBe(number);
  }
}

type Sample = [time: number, value: string];
type NativeSample = [time: number, histogram: { count: string }];

/** An instant has one sample, a range has several. */
interface Answer {
  data: {
    result: {
      metric: Record<string, string>;
      value?: Sample;
      values?: Sample[];
      histogram?: NativeSample;
      histograms?: NativeSample[];
    }[];
  };
}

/** Features of Prometheus, each of which makes it ask for protobuf. */
export const NATIVE_HISTOGRAMS = 'native-histograms';
export const START_TIMES = 'created-timestamp-zero-ingestion';

/** Returns the setting of a job that takes native histograms. Until 3.8 the feature is enough, and there is no setting. */
export function nativeHistograms(): object {
  const help = execFileSync(program('prometheus'), ['--help'], { encoding: 'utf8' });
  return help.includes(NATIVE_HISTOGRAMS) ? {} : { scrape_native_histograms: true };
}

/** Scrapes that address twice a second. `settings`: of its scrape configuration. */
export function startPrometheus(
  target: string,
  features: readonly string[] = [],
  settings: object = {},
): Promise<Backend> {
  const native = features.includes(NATIVE_HISTOGRAMS) ? nativeHistograms() : {};
  const job = { job_name: 'nixl', static_configs: [{ targets: [target] }], ...native, ...settings };
  const global = { scrape_interval: '500ms', scrape_timeout: '500ms' };
  const enabled = features.length === 0 ? [] : [`--enable-feature=${features.join(',')}`];
  return startConfigured({ global, scrape_configs: [job] }, enabled);
}

/** Starts a Prometheus with this configuration. */
export async function startConfigured(configuration: object, flags: readonly string[] = []): Promise<Backend> {
  const server = await Server.start({
    program: 'prometheus',
    ready: '/-/ready',
    args: (directory, address) => {
      const file = path.join(directory, 'prometheus.yml');
      writeFileSync(file, JSON.stringify(configuration)); // JSON is YAML
      return [
        `--config.file=${file}`,
        `--storage.tsdb.path=${path.join(directory, 'data')}`,
        `--web.listen-address=${address}`,
        ...flags,
      ];
    },
  });
  return new Backend(server);
}

/** Receiver of OTLP in Prometheus 3. Debian's is built without it. */
export const OTLP_RECEIVER = {
  flags: ['--web.enable-otlp-receiver'],
  urlAt: ({ server }: Backend): string => `${server.url}/api/v1/otlp/v1/metrics`,
} as const;

/** A backend that accepts OTLP at an address. */
export type OtlpBackend = Backend & { pushTo: string };

export async function startVictoriaMetrics(flags: readonly string[] = []): Promise<OtlpBackend> {
  const server = await Server.start({
    program: 'victoria-metrics',
    ready: '/health',
    args: (directory, address) => [
      `-storageDataPath=${path.join(directory, 'data')}`,
      `-httpListenAddr=${address}`,
      // By default it answers from caches, without the last half minute.
      '-search.latencyOffset=1ms',
      '-search.disableCache',
      ...flags,
    ],
  });
  return Object.assign(new Backend(server), { pushTo: `${server.url}/opentelemetry/v1/metrics` });
}
