/** Outputs of serve: one reader per exporter over one source, each with a separate producer. */
import path from 'node:path';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  ConsoleMetricExporter,
  MeterProvider,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { histogramsFor } from '../../instrumentation/joining/aggregations.js';
import {
  type NixlMetricProducer,
  type SharedFeed,
  sharedProducer,
} from '../../instrumentation/producer/metric-producer.js';
import type { ServeSettings } from '../../settings/serve-rows.js';
import { MODULE_PATH } from '../../settings/user-module.js';
import { BUILT_IN_EXPORTERS } from '../exporter-settings.js';
import type { Handler } from '../http/metrics-server.js';
import { orFailure } from '../process/failure.js';
import { aggregationSelector } from './aggregation.js';
import { type CustomReader, isExporter, loadExporter } from './custom-exporter.js';
import { GuardedExporter } from './guarded-exporter.js';
import { collectorUrl } from './otlp-environment.js';
import { Owner } from './owners.js';

export interface Output {
  readonly name: string;
  /** Handles requests for the exposition; present only if the exporter is scraped. */
  readonly exposition?: Handler;
  /** Collects and exports once more. */
  close(): Promise<void>;
}

interface OutputContext {
  readonly settings: ServeSettings;
  readonly resource: Resource;
  readonly shared: SharedFeed;
  /** Called at each failed export, with the exporter's label. */
  readonly onFailure: (exporter: string) => void;
}

/** Context of one output while it opens. */
interface Opening extends OutputContext {
  readonly name: string;
  readonly owner: Owner;
}

/**
 * Returns the label of each exporter: a name, or the file name of a module, without folders and extension. A second module
 * of the same name gets a number.
 */
export function exporterLabels(names: readonly string[]): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  const taken = new Set<string>(names.filter((name) => !MODULE_PATH.test(name)));
  for (const name of names) labels.set(name, MODULE_PATH.test(name) ? unique(path.parse(name).name, taken) : name);
  return labels;
}

function unique(label: string, taken: Set<string>): string {
  let found = label;
  for (let n = 2; taken.has(found); n++) found = `${label}-${n}`;
  taken.add(found);
  return found;
}

/**
 * Loads the exporter of this output and no other.
 * @throws Failure
 */
export async function openOutput(name: string, context: OutputContext): Promise<Output> {
  const { settings } = context;
  const label = exporterLabels(settings.exporter).get(name)!;
  const isBuiltIn = BUILT_IN_EXPORTERS.includes(name);
  const owner = new Owner(`exporter ${name}`, { isBuiltIn, onFailure: () => context.onFailure(label) });
  const opening: Opening = { ...context, name, owner };
  switch (name) {
    case 'prometheus':
      return prometheusOutput(opening);
    case 'console':
      return pushOutput(await consoleExporter(settings), opening);
    case 'otlp': {
      const { otlpExporter } = await import('./otlp.js');
      const target = collectorUrl(settings.otlpEndpoint, settings.otlpProtocol, process.env);
      return pushOutput(await otlpExporter(settings, exportLimit(settings)), opening, target);
    }
    default:
      // Getters, constructor and methods are a user's code.
      return orFailure(`exporter ${name} cannot be used`, () => customOutput(opening));
  }
}

/** Returns a timeout below that of the reader, which is the interval and would be logged at every interval. */
function exportLimit({ exportTimeout, exportInterval }: ServeSettings): number {
  return Math.min(exportTimeout, Math.ceil(exportInterval * 0.9));
}

async function consoleExporter({ consoleFile, histograms }: ServeSettings): Promise<PushMetricExporter> {
  const exporter: PushMetricExporter =
    consoleFile === undefined
      ? new ConsoleMetricExporter() // a part of sdk-metrics, which is loaded anyway
      : await (await import('./console-file.js')).consoleFileExporter(consoleFile);
  exporter.selectAggregation = aggregationSelector(histograms);
  return exporter;
}

async function prometheusOutput({ name, resource, shared, owner }: Opening): Promise<Output> {
  const { PrometheusExporter } = await import('@opentelemetry/exporter-prometheus');
  const { metricsHandler } = await import('../http/metrics-handler.js'); // it loads the serialiser
  const exporter = new PrometheusExporter({
    metricProducers: [sharedProducer({}, { ...shared, bothBuckets: true })], // protobuf has both, text the explicit ones
    preventServerStart: true, // serve has a server with more paths and limits
  });
  const provider = new MeterProvider({ resource, readers: [exporter] });
  return {
    name,
    exposition: metricsHandler(exporter, shared.hasOwnMetrics, owner.onFailure),
    close: () => provider.shutdown(),
  };
}

function pushOutput(exporter: PushMetricExporter, opening: Opening, target?: string): Output {
  const { name, settings, resource, shared, owner } = opening;
  const { exportInterval } = settings;
  const reader: PeriodicExportingMetricReader = new PeriodicExportingMetricReader({
    exporter: new GuardedExporter(exporter, owner, exportLimit(settings), target),
    exportIntervalMillis: exportInterval,
    exportTimeoutMillis: exportInterval,
    metricProducers: [
      sharedProducer(
        {
          temporality: (type) => reader.selectAggregationTemporality(type),
          histograms: (type) => reader.selectAggregation(type),
        },
        shared,
      ),
    ],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return { name, close: () => provider.shutdown() };
}

async function customOutput(opening: Opening): Promise<Output> {
  const { name, settings, resource, shared, owner } = opening;
  const outputPath = process.env['NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH'];
  let reader: CustomReader | undefined = undefined;
  const producer = sharedProducer(
    {
      temporality: (type) => reader?.selectAggregationTemporality?.(type) ?? AggregationTemporality.CUMULATIVE,
      histograms: () => histogramsFor(reader ?? {}, 'explicit'),
    },
    shared,
  );
  const { given, set } = pairOf(producer, resource);
  const context = { name, settings, resource, metricProducer: given, ...(outputPath ? { outputPath } : {}) };
  const custom = await loadExporter(context, owner);
  if (isExporter(custom)) {
    producer.close(); // otherwise dead agents would be kept for it, as for a reader that never reads
    return pushOutput(custom, opening);
  }
  reader = custom;
  owner.run(() => custom.setMetricProducer(set));
  return { name, close: () => owner.run(() => custom.shutdown()) };
}

/**
 * Returns the producer twice: for the constructor of a reader, and for setMetricProducer(). After a collect of the first,
 * the second is empty. Both report the resource, which a reader without a provider takes from its collect.
 */
function pairOf(producer: NixlMetricProducer, resource: Resource): { given: MetricProducer; set: MetricProducer } {
  let isGivenUsed = false;
  const collect = async (): Promise<CollectionResult> => {
    const { resourceMetrics, errors } = await producer.collect();
    return { resourceMetrics: { ...resourceMetrics, resource }, errors };
  };
  return {
    given: {
      collect: () => {
        isGivenUsed = true;
        return collect();
      },
    },
    set: {
      collect: async () => {
        // A reader collects all of its producers in one turn, and this one first.
        await Promise.resolve();
        return isGivenUsed ? { resourceMetrics: { resource, scopeMetrics: [] }, errors: [] } : collect();
      },
    },
  };
}
