/** The exposition as text: Prometheus' text format, made by OpenTelemetry's serialiser in slices of time. */
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { TimeSlices } from './time-slices.js';

/** Points per call of the serialiser: for a histogram some hundred lines, which take half a millisecond. */
const POINTS_PER_PART = 16;

// Without labels of the scope: NIXL's series have NIXL's labels and no others.
const serializerWith = (hasTargetInfo: boolean) =>
  new PrometheusSerializer(undefined, false, undefined, !hasTargetInfo, true);
const serializers = { withTarget: serializerWith(true), withoutTarget: serializerWith(false) };

/**
 * Returns the same text as one call of the serialiser. That call takes tens of milliseconds for the histograms of many agents,
 * so it gets a few points at a time, and other work has its turn in between.
 */
export async function exposition({ resource, scopeMetrics }: ResourceMetrics, hasTargetInfo = true): Promise<string> {
  const serializer = hasTargetInfo ? serializers.withTarget : serializers.withoutTarget;
  const empty = serializer.serialize({ resource, scopeMetrics: [] });
  // The serialiser repeats the resource before each part. Without metrics a comment follows it.
  const head = empty.slice(0, empty.lastIndexOf('#'));
  const pieces: string[] = [];
  const slices = new TimeSlices();
  for (const { scope, metrics } of scopeMetrics) {
    for (const { part, isFirst } of metrics.flatMap(partsOf)) {
      if (slices.isOver) await slices.next();
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
