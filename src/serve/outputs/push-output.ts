/** Outputs that push: exporters behind a periodic reader of the SDK. */
import {
  ConsoleMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { Inside } from '../../ground/inside.js';
import { NixlMetricProducer } from '../../instrumentation/producer/metric-producer.js';
import type { ServeSettings } from '../../settings/serve-rows.js';
import { aggregationSelector } from './aggregation.js';
import { GuardedExporter } from './guarded-exporter.js';
import { collectorUrl } from '../../settings/otlp-environment.js';
import type { Opening, Output } from './output.js';

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
export async function pushOutput(exporter: PushMetricExporter, opening: Opening, target?: string): Promise<Output> {
  const { name, settings, shared, owner } = opening;
  const resource = await opening.resource();
  const { exportInterval } = settings;
  const guarded = new GuardedExporter(exporter, owner, exportLimit(settings), {
    target,
    resource: () => resource.current(),
  });
  const reader: PeriodicExportingMetricReader = new PeriodicExportingMetricReader({
    exporter: guarded,
    exportIntervalMillis: exportInterval,
    exportTimeoutMillis: exportInterval,
    metricProducers: [
      new NixlMetricProducer(
        {
          temporality: (type) => reader.selectAggregationTemporality(type),
          histograms: (type) => reader.selectAggregation(type),
        },
        new Inside(shared),
      ),
    ],
  });
  const provider = new MeterProvider({ readers: [reader] });
  return { name, failing: () => guarded.failing, close: () => provider.shutdown() };
}

/** Returns a timeout below that of the reader, which is the interval and would be logged at every interval. */
function exportLimit({ exportTimeout, exportInterval }: ServeSettings): number {
  return Math.min(exportTimeout, Math.ceil(exportInterval * 0.9));
}
