/** Outputs that push: exporters behind a periodic reader of the SDK. */
import {
  ConsoleMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { sharedProducer } from '../../instrumentation/producer/metric-producer.js';
import type { ServeSettings } from '../../settings/serve-rows.js';
import { aggregationSelector } from './aggregation.js';
import { GuardedExporter } from './guarded-exporter.js';
import { collectorUrl } from './otlp-environment.js';
import type { Opening, Output } from './output.js';
import { serviceResource } from './resource.js';

/** @throws Failure */
export async function otlpOutput(opening: Opening): Promise<Output> {
  const { settings } = opening;
  const { otlpExporter } = await import('./otlp.js');
  const target = collectorUrl(settings.otlpEndpoint, settings.otlpProtocol, process.env);
  return pushOutput(await otlpExporter(settings, exportLimit(settings)), opening, target);
}

/** @throws Failure */
export async function consoleOutput(opening: Opening): Promise<Output> {
  const { consoleFile, histograms } = opening.settings;
  const exporter: PushMetricExporter =
    consoleFile === undefined
      ? new ConsoleMetricExporter()
      : await (await import('./console-file.js')).consoleFileExporter(consoleFile);
  exporter.selectAggregation = aggregationSelector(histograms);
  return pushOutput(exporter, opening);
}

/** `target`: URL of the receiver, without secrets. */
export function pushOutput(exporter: PushMetricExporter, opening: Opening, target?: string): Output {
  const { name, settings, shared, owner } = opening;
  const { exportInterval } = settings;
  const guarded = new GuardedExporter(exporter, owner, exportLimit(settings), target);
  const reader: PeriodicExportingMetricReader = new PeriodicExportingMetricReader({
    exporter: guarded,
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
  const provider = new MeterProvider({ resource: serviceResource(), readers: [reader] });
  return { name, failing: () => guarded.failing, close: () => provider.shutdown() };
}

/** Returns a timeout below that of the reader, which is the interval and would be logged at every interval. */
function exportLimit({ exportTimeout, exportInterval }: ServeSettings): number {
  return Math.min(exportTimeout, Math.ceil(exportInterval * 0.9));
}
