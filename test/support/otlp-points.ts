/** Points of a push, from JSON or from protobuf in the form of JSON. */

export interface OtlpPoint {
  metric: string;
  attributes: Record<string, string>;
  /** Milliseconds since the Unix epoch. */
  startTimeMs: number;
  /** For sums and gauges. */
  value?: number;
  /** For histograms. */
  histogram?: { count: number; sum: number; bounds: number[]; buckets: number[] };
  exponential?: ExponentialPoint;
}

export interface ExponentialPoint {
  /** 1: delta. 2: cumulative. */
  temporality: number;
  count: number;
  sum: number;
  min: number | undefined;
  max: number | undefined;
  scale: number;
  zeroCount: number;
  offset: number;
  buckets: number[];
}

interface JsonBuckets {
  offset?: number;
  bucketCounts?: (string | number)[];
}

interface JsonPoint {
  startTimeUnixNano?: string;
  attributes?: { key: string; value: { stringValue: string } }[];
  asDouble?: number;
  asInt?: string | number;
  count?: string | number;
  sum?: number;
  explicitBounds?: number[];
  bucketCounts?: (string | number)[];
  scale?: number;
  zeroCount?: string | number;
  positive?: JsonBuckets;
  negative?: JsonBuckets;
  min?: number;
  max?: number;
}

interface JsonData {
  dataPoints: JsonPoint[];
  aggregationTemporality?: number;
}

type Kind = 'sum' | 'gauge' | 'histogram' | 'exponentialHistogram';
type JsonMetric = { name: string } & Partial<Record<Kind, JsonData>>;

export interface JsonPush {
  resourceMetrics: { resource?: { attributes?: JsonPoint['attributes'] }; scopeMetrics: { metrics: JsonMetric[] }[] }[];
}

/** Returns service.instance.id of a push. */
export function instanceIn({ resourceMetrics }: JsonPush): string | undefined {
  const attributes = resourceMetrics[0]?.resource?.attributes;
  return attributes?.find(({ key }) => key === 'service.instance.id')?.value.stringValue;
}

export function pointsIn(push: JsonPush | undefined): OtlpPoint[] {
  const scopes = push?.resourceMetrics.flatMap(({ scopeMetrics = [] }) => scopeMetrics) ?? [];
  return scopes.flatMap(({ metrics }) => metrics.flatMap(pointsOf));
}

function pointsOf({ name, sum, gauge, histogram, exponentialHistogram }: JsonMetric): OtlpPoint[] {
  const { dataPoints, aggregationTemporality = 0 } = (sum ?? gauge ?? histogram ?? exponentialHistogram)!;
  return dataPoints.map((point) => {
    const attributes = Object.fromEntries((point.attributes ?? []).map(({ key, value }) => [key, value.stringValue]));
    const startTimeMs = Number(point.startTimeUnixNano ?? 0) / 1e6;
    return { metric: name, attributes, startTimeMs, ...numbersOf(point, aggregationTemporality) };
  });
}

function numbersOf(point: JsonPoint, temporality: number): Omit<OtlpPoint, 'metric' | 'attributes' | 'startTimeMs'> {
  const { bucketCounts, explicitBounds, positive, negative, min, max } = point;
  const [count, sum] = [Number(point.count), point.sum!];
  if (positive !== undefined) {
    if ((negative?.bucketCounts ?? []).length > 0) throw new Error('a tally has no negative values');
    const { scale = 0, zeroCount = 0 } = point;
    const { offset = 0, bucketCounts: counts = [] } = positive;
    const about = { temporality, count, sum, min, max, scale, zeroCount: Number(zeroCount) };
    return { exponential: { ...about, offset, buckets: counts.map(Number) } };
  }
  if (bucketCounts === undefined) return { value: point.asDouble ?? Number(point.asInt) };
  return { histogram: { count, sum, bounds: explicitBounds!, buckets: bucketCounts.map(Number) } };
}
