/**
 * A page in Prometheus' text format, by OpenTelemetry's serialiser. That takes tens of milliseconds for the histograms of
 * many agents, so it is given some points at a time, and whoever else waits has a turn in between.
 */
import { setImmediate } from 'node:timers/promises';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';

/** Of a histogram these are some hundred lines: half a millisecond. */
const POINTS_AT_A_TIME = 16;
/** Nothing more is begun after so long. */
const SLICE_MS = 2;

// Without a scope's labels: NIXL's series have NIXL's labels and no others.
const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);

export async function pageText({ resource, scopeMetrics }: ResourceMetrics): Promise<string> {
  const empty = serializer.serialize({ resource, scopeMetrics: [] });
  // What is said of the resource stands before each piece again; behind it, in an empty page, a comment.
  const head = empty.slice(0, empty.lastIndexOf('#'));
  const pieces: string[] = [];
  let sliceEndMs = 0; // making the points took a while already
  for (const { scope, metrics } of scopeMetrics) {
    for (const { part, isFirst } of metrics.flatMap(partsOf)) {
      if (performance.now() >= sliceEndMs) {
        await setImmediate();
        sliceEndMs = performance.now() + SLICE_MS;
      }
      const page = serializer.serialize({ resource, scopeMetrics: [{ scope, metrics: [part] }] });
      if (page !== empty) pieces.push(isFirst ? page.slice(head.length) : withoutComments(page.slice(head.length)));
    }
  }
  return pieces.length === 0 ? empty : head + pieces.join('');
}

/** A metric with some of its points, over and over; once without any if it has none. */
function partsOf(metric: MetricData): { part: MetricData; isFirst: boolean }[] {
  const count = Math.max(1, Math.ceil(metric.dataPoints.length / POINTS_AT_A_TIME));
  return Array.from({ length: count }, (_, i) => {
    const dataPoints: readonly unknown[] = metric.dataPoints.slice(i * POINTS_AT_A_TIME, (i + 1) * POINTS_AT_A_TIME);
    return { part: { ...metric, dataPoints } as MetricData, isFirst: i === 0 };
  });
}

/** The help, unit and type of a metric stand before its first points only. */
function withoutComments(page: string): string {
  return page.replace(/^(?:#.*\n)+/, '');
}
