/** Real OpenTelemetry Collectors, beside serve and as gateways. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../cli/command.js';
import { Server } from '../servers/server.js';
import { freePort } from '../support/free-port.js';

export interface Collector {
  server: Server;
  /** URL of its receiver, for OTLP over HTTP. */
  endpoint: string;
  /** The same over gRPC, as host:port. */
  grpcEndpoint: string;
}

type Signal = 'metrics' | 'logs';

interface Pipeline {
  receivers: string[];
  processors: string[];
  exporters: string[];
}

interface Configuration {
  extensions: Record<string, object>;
  receivers: { otlp: { protocols: Record<'grpc' | 'http', { endpoint: string }> } };
  processors: Record<string, object>;
  exporters: Record<string, object>;
  service: {
    extensions: string[];
    telemetry: object;
    pipelines: Partial<Record<Signal, Pipeline>> & { metrics: Pipeline };
  };
}

/** Starts one with a pipeline from its OTLP receiver for each of the signals. */
async function start(
  { processors, exporters }: Pick<Configuration, 'processors' | 'exporters'>,
  signals: readonly Signal[] = ['metrics'],
): Promise<Collector> {
  const pipeline = { receivers: ['otlp'], processors: Object.keys(processors), exporters: Object.keys(exporters) };
  const [http, grpc] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const server = await Server.start({
    program: 'collector',
    ready: '/',
    args: (directory, address) => {
      const configuration: Configuration = {
        extensions: {
          health_check: { endpoint: address },
          file_storage: { directory: path.join(directory, 'queue'), create_directory: true },
        },
        receivers: { otlp: { protocols: { http: { endpoint: http }, grpc: { endpoint: grpc } } } },
        processors,
        exporters,
        service: {
          extensions: ['health_check', 'file_storage'],
          telemetry: { metrics: { level: 'none' } },
          pipelines: { metrics: pipeline, ...Object.fromEntries(signals.map((signal) => [signal, pipeline])) },
        },
      };
      const file = path.join(directory, 'collector.yaml');
      writeFileSync(file, JSON.stringify(configuration)); // JSON is YAML
      return [`--config=${file}`];
    },
  });
  return { server, endpoint: `http://${http}`, grpcEndpoint: grpc };
}

const RETRY = { initial_interval: '200ms', max_interval: '1s', max_elapsed_time: 0 };

/**
 * Starts one that keeps on disk what it has accepted until the next receiver has it. Nothing before this queue holds
 * points in memory, as the batch processor would. `metricsEndpoint`: URL of the next receiver. `groupBy`: attributes of
 * points that become attributes of the resource.
 */
export function startCollector(metricsEndpoint: string, groupBy?: string[]): Promise<Collector> {
  return start({
    processors: {
      memory_limiter: { check_interval: '1s', limit_mib: 512 },
      ...(groupBy === undefined ? {} : { groupbyattrs: { keys: groupBy } }),
    },
    exporters: {
      otlp_http: {
        metrics_endpoint: metricsEndpoint,
        sending_queue: { storage: 'file_storage', num_consumers: 1 }, // one: points stay in order
        retry_on_failure: RETRY,
      },
    },
  });
}

/**
 * Starts one with processors and exporter of deploy/otel-collector, but without k8sattributes, which needs a cluster.
 * `next`: host:port of the next receiver.
 */
export function startShippedCollector(next: string): Promise<Collector> {
  const shipped = parse(readFileSync(path.join(ROOT, 'deploy/otel-collector/config.yaml'), 'utf8')) as Configuration;
  const { metrics } = shipped.service.pipelines;
  const names = metrics.processors.filter((name) => name !== 'k8sattributes');
  return start({
    processors: Object.fromEntries(names.map((name) => [name, shipped.processors[name]!])),
    exporters: Object.fromEntries(
      metrics.exporters.map((name) => [name, { ...shipped.exporters[name], endpoint: next, retry_on_failure: RETRY }]),
    ),
  });
}

/** Starts one that prints what it receives on its standard error. */
export function startPrintingCollector(): Promise<Collector> {
  return start({ processors: {}, exporters: { debug: { verbosity: 'detailed' } } }, ['metrics', 'logs']);
}
