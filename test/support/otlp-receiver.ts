/** A backend that takes OTLP over HTTP as JSON and keeps what it got. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface OtlpPoint {
  metric: string;
  attributes: Record<string, string>;
  /** Of sums and gauges. */
  value?: number;
  /** Of histograms. */
  histogram?: { count: number; sum: number; bounds: number[]; buckets: number[] };
}

export interface OtlpReceiver {
  url: string;
  /** Of the last push. */
  points: () => OtlpPoint[];
}

interface JsonPoint {
  attributes: { key: string; value: { stringValue: string } }[];
  asDouble?: number;
  asInt?: string | number;
  count?: string | number;
  sum?: number;
  explicitBounds?: number[];
  bucketCounts?: (string | number)[];
}

type JsonMetric = { name: string } & Partial<Record<'sum' | 'gauge' | 'histogram', { dataPoints: JsonPoint[] }>>;

interface JsonPush {
  resourceMetrics: { scopeMetrics: { metrics: JsonMetric[] }[] }[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  let last = '{"resourceMetrics":[]}';
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (text: Buffer) => (body += text.toString()));
    request.on('end', () => {
      last = body;
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1/metrics`, points: () => pointsIn(JSON.parse(last) as JsonPush) };
}

function pointsIn({ resourceMetrics }: JsonPush): OtlpPoint[] {
  const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  return metrics.flatMap((metric) =>
    (metric.sum ?? metric.gauge ?? metric.histogram!).dataPoints.map((point) => toPoint(metric.name, point)),
  );
}

function toPoint(metric: string, point: JsonPoint): OtlpPoint {
  const attributes = Object.fromEntries(point.attributes.map(({ key, value }) => [key, value.stringValue]));
  if (point.bucketCounts === undefined) return { metric, attributes, value: point.asDouble ?? Number(point.asInt) };
  const { count, sum, explicitBounds, bucketCounts } = point;
  const buckets = bucketCounts.map(Number);
  return { metric, attributes, histogram: { count: Number(count), sum: sum!, bounds: explicitBounds!, buckets } };
}
