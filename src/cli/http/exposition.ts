/** The exposition at /metrics: Prometheus' text format, made by OpenTelemetry's serialiser in slices of time. */
import { setImmediate } from 'node:timers/promises';
import { diag } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { reasonOf } from '../../errors.js';
import type { IMetricReader, MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { Handler } from './metrics-server.js';

/** OpenTelemetry's exporter names only `text/plain`, which Prometheus 3 warns about. */
const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';
/** Points per call of the serialiser: for a histogram some hundred lines, which take half a millisecond. */
const POINTS_PER_PART = 16;
/** Time after which other work gets a turn. */
const SLICE_MS = 2;

/**
 * Serves the metrics of a reader, collected per request. `onFailure` is called for each failed collection.
 * `hasTargetInfo`: with the metric `target_info`, made of the resource.
 */
export function metricsHandler(reader: IMetricReader, hasTargetInfo: boolean, onFailure: () => void): Handler {
  const serializer = serializerOf(hasTargetInfo);
  // An exposition of many agents has megabytes. Therefore only one is made at a time, for any number of scrapers.
  const collect = coalesce(async () => {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) diag.error('collecting metrics for /metrics', ...errors);
    return exposition(resourceMetrics, serializer);
  });
  return (_, answer) => {
    collect().then(
      (text) => answer(200, text, PROMETHEUS_TEXT),
      (error: unknown) => {
        onFailure();
        answer(500, `# failed to export metrics: ${reasonOf(error)}`);
      },
    );
  };
}

/** Coalesces concurrent calls: all calls during a run share the next run, which begins after it. */
export function coalesce<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    return (running = work().finally(() => (running = undefined)));
  };
  return () => {
    if (running === undefined) return begin();
    return (next ??= running.then(begin, begin));
  };
}

/** Without labels of the scope: NIXL's series have NIXL's labels and no others. */
function serializerOf(hasTargetInfo: boolean): PrometheusSerializer {
  return new PrometheusSerializer(undefined, false, undefined, !hasTargetInfo, true);
}

/**
 * Returns the same text as one call of the serialiser. That call takes tens of milliseconds for the histograms of many agents,
 * so it gets a few points at a time, and other work has its turn in between.
 */
export async function exposition(
  { resource, scopeMetrics }: ResourceMetrics,
  serializer = serializerOf(true),
): Promise<string> {
  const empty = serializer.serialize({ resource, scopeMetrics: [] });
  // The serialiser repeats the resource before each part. Without metrics a comment follows it.
  const head = empty.slice(0, empty.lastIndexOf('#'));
  const pieces: string[] = [];
  let sliceEndMs = 0; // collecting has used up the first slice
  for (const { scope, metrics } of scopeMetrics) {
    for (const { part, isFirst } of metrics.flatMap(partsOf)) {
      if (performance.now() >= sliceEndMs) {
        await setImmediate();
        sliceEndMs = performance.now() + SLICE_MS;
      }
      const text = serializer.serialize({ resource, scopeMetrics: [{ scope, metrics: [part] }] });
      if (text !== empty) pieces.push(isFirst ? text.slice(head.length) : withoutComments(text.slice(head.length)));
    }
  }
  return pieces.length === 0 ? empty : head + pieces.join('');
}

/** Splits a metric by its points. A metric without points is one part. */
function partsOf(metric: MetricData): { part: MetricData; isFirst: boolean }[] {
  const count = Math.max(1, Math.ceil(metric.dataPoints.length / POINTS_PER_PART));
  return Array.from({ length: count }, (_, i) => {
    const dataPoints: readonly unknown[] = metric.dataPoints.slice(i * POINTS_PER_PART, (i + 1) * POINTS_PER_PART);
    return { part: { ...metric, dataPoints } as MetricData, isFirst: i === 0 };
  });
}

/** Removes help, unit and type, which belong before the first points only. */
function withoutComments(text: string): string {
  return text.replace(/^(?:#.*\n)+/, '');
}
