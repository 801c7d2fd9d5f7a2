/** Where the metrics go: one reader per exporter, each with a producer of its own, over one source. */
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  ConsoleMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { ExporterFailures } from '../../instrumentation/exporter-failures.js';
import { NixlMetricProducer, type SharedFeed } from '../../instrumentation/metric-producer.js';
import { orFailure } from '../process/failure.js';
import { ConsoleFile } from './console-file.js';
import { BUILT_IN_EXPORTERS, type CustomReader, loadExporter } from './custom-exporter.js';
import { exporterLabels } from './exporter-labels.js';
import { GuardedExporter } from './guarded-exporter.js';
import { metricsHandler } from '../http/exposition.js';
import type { Handler } from '../http/metrics-server.js';
import { otlpExporter } from './otlp.js';
import { collectorUrl } from './otlp-environment.js';
import { Owner } from './owners.js';
import type { CollectionResult, MetricProducer, PushMetricExporter } from './sdk-types.js';
import type { ServeSettings } from '../../settings/serve-rows.js';

export interface Output {
  readonly name: string;
  /** Of those that are asked rather than push. */
  readonly page?: Handler;
  /** Collects and exports once more. */
  close(): Promise<void>;
}

export interface OutputContext {
  readonly settings: ServeSettings;
  readonly resource: Resource;
  readonly shared: SharedFeed;
  readonly failures: ExporterFailures;
}

/** An output that is being opened. */
interface Opening extends OutputContext {
  readonly name: string;
  readonly owner: Owner;
  readonly onFailure: () => void;
}

/** @throws Failure */
export async function openOutput(name: string, context: OutputContext): Promise<Output> {
  const { settings, failures } = context;
  const label = exporterLabels(settings.exporter).get(name)!;
  const onFailure = (): void => failures.add(label);
  const isBuiltIn = BUILT_IN_EXPORTERS.includes(name);
  const owner = new Owner(`exporter ${name}`, { isBuiltIn, onLateError: onFailure });
  const opening: Opening = { ...context, name, owner, onFailure };
  switch (name) {
    case 'prometheus':
      return prometheusOutput(opening);
    case 'console':
      return pushOutput(await consoleExporter(settings), opening);
    case 'otlp':
      return pushOutput(await otlpExporter(settings, exportLimit(settings)), opening, otlpTarget(settings));
    default:
      // Its getters, constructor and methods are anyone's code.
      return orFailure(`exporter ${name} cannot be used`, () => customOutput(opening));
  }
}

/** Below the reader's own limit, which is the interval: it would log at every interval that it was reached. */
function exportLimit({ exportTimeout, exportInterval }: ServeSettings): number {
  return Math.min(exportTimeout, Math.ceil(exportInterval * 0.9));
}

/** URL of the receiver, as far as no password or key may stand in it. */
function otlpTarget({ otlpEndpoint, otlpProtocol }: ServeSettings): string {
  return collectorUrl(otlpEndpoint, otlpProtocol, process.env);
}

async function consoleExporter({ consoleFile }: ServeSettings): Promise<PushMetricExporter> {
  return consoleFile === undefined ? new ConsoleMetricExporter() : ConsoleFile.open(consoleFile);
}

function prometheusOutput({ name, resource, shared, onFailure }: Opening): Output {
  const exporter = new PrometheusExporter({
    metricProducers: [new NixlMetricProducer({}, shared)],
    preventServerStart: true, // we have our own, with more paths and limits
  });
  const provider = new MeterProvider({ resource, readers: [exporter] });
  return { name, page: metricsHandler(exporter, onFailure), close: () => provider.shutdown() };
}

function pushOutput(exporter: PushMetricExporter, opening: Opening, target?: string): Output {
  const { name, settings, resource, shared, owner, onFailure } = opening;
  const { exportInterval } = settings;
  const reader: PeriodicExportingMetricReader = new PeriodicExportingMetricReader({
    exporter: new GuardedExporter({
      exporter,
      owner,
      timeoutMs: exportLimit(settings),
      onFailure,
      ...(target === undefined ? {} : { target }),
    }),
    exportIntervalMillis: exportInterval,
    exportTimeoutMillis: exportInterval,
    metricProducers: [
      new NixlMetricProducer({ temporality: (type) => reader.selectAggregationTemporality(type) }, shared),
    ],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return { name, close: () => provider.shutdown() };
}

async function customOutput(opening: Opening): Promise<Output> {
  const { name, settings, resource, shared, owner } = opening;
  const outputPath = process.env['NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH'];
  const made: { reader?: CustomReader } = {};
  const producer = new NixlMetricProducer(
    { temporality: (type) => made.reader?.selectAggregationTemporality?.(type) ?? AggregationTemporality.CUMULATIVE },
    shared,
  );
  const { given, set } = eitherWay(producer, resource);
  const custom = await loadExporter(
    { name, settings, resource, metricProducer: given, ...(outputPath ? { outputPath } : {}) },
    owner,
  );
  if (custom.kind === 'exporter') {
    producer.close(); // it would be waited for, as a reader that never reads
    return pushOutput(custom.exporter, opening);
  }
  made.reader = custom.reader;
  owner.run(() => custom.reader.setMetricProducer(set));
  return { name, close: () => owner.run(() => custom.reader.shutdown()) };
}

/**
 * One producer, for a reader to be made with or to be given afterwards: once it has asked the first, the second has
 * nothing to add. Both tell the resource, which a reader without a provider takes from what it collects.
 */
function eitherWay(producer: NixlMetricProducer, resource: Resource): { given: MetricProducer; set: MetricProducer } {
  let isGivenAsked = false;
  const collect = async (): Promise<CollectionResult> => {
    const { resourceMetrics, errors } = await producer.collect();
    return { resourceMetrics: { ...resourceMetrics, resource }, errors };
  };
  return {
    given: {
      collect: () => {
        isGivenAsked = true;
        return collect();
      },
    },
    set: {
      collect: async () => {
        // A reader asks all of its producers in one turn, and this one first.
        await Promise.resolve();
        return isGivenAsked ? { resourceMetrics: { resource, scopeMetrics: [] }, errors: [] } : collect();
      },
    },
  };
}
