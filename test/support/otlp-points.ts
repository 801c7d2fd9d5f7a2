/** Points of a push, from JSON or from protobuf in the form of JSON. */

export interface OtlpPoint {
  metric: string;
  attributes: Record<string, string>;
  /** For sums and gauges. */
  value?: number;
  /** For histograms. */
  histogram?: { count: number; sum: number; bounds: number[]; buckets: number[] };
}

interface JsonPoint {
  attributes?: { key: string; value: { stringValue: string } }[];
  asDouble?: number;
  asInt?: string | number;
  count?: string | number;
  sum?: number;
  explicitBounds?: number[];
  bucketCounts?: (string | number)[];
}

type JsonMetric = { name: string } & Partial<Record<'sum' | 'gauge' | 'histogram', { dataPoints: JsonPoint[] }>>;

export interface JsonPush {
  resourceMetrics: { scopeMetrics: { metrics: JsonMetric[] }[] }[];
}

export function pointsIn(push: JsonPush | undefined): OtlpPoint[] {
  const scopes = push?.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics) ?? [];
  return scopes.flatMap(({ metrics }) =>
    metrics.flatMap((metric) =>
      (metric.sum ?? metric.gauge ?? metric.histogram!).dataPoints.map((point) => toPoint(metric.name, point)),
    ),
  );
}

function toPoint(metric: string, point: JsonPoint): OtlpPoint {
  const attributes = Object.fromEntries((point.attributes ?? []).map(({ key, value }) => [key, value.stringValue]));
  if (point.bucketCounts === undefined) return { metric, attributes, value: point.asDouble ?? Number(point.asInt) };
  const { count, sum, explicitBounds, bucketCounts } = point;
  const buckets = bucketCounts.map(Number);
  return { metric, attributes, histogram: { count: Number(count), sum: sum!, bounds: explicitBounds!, buckets } };
}
