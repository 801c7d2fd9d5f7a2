/** Divides pushes that are larger than the receiver takes: many agents exceed the 4 MiB that gRPC servers take by default. */
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { note } from '../../process/output.js';

type ResultCallback = Parameters<PushMetricExporter['export']>[1];
type ExportResult = Parameters<ResultCallback>[0];

/** A receiver that refuses parts of one agent refuses all. */
const MOST_PARTS = 1024;
/** ExportResultCode.SUCCESS of @opentelemetry/core, which is internal to the SDK. */
const SUCCESS: number = 0;

/**
 * Returns the exporter with another export(), which sends the parts of a push one after another. A part that is too large is
 * divided again, and no part is sent twice. Later pushes have as many parts.
 */
export function dividingPushes(exporter: PushMetricExporter, name: string): PushMetricExporter {
  const whole = exporter.export.bind(exporter);
  let parts = 1;
  const send = (metrics: ResourceMetrics): Promise<ExportResult> => new Promise((resolve) => whole(metrics, resolve));

  async function sendParts(metrics: ResourceMetrics): Promise<ExportResult> {
    const before = parts;
    let result: ExportResult = { code: SUCCESS };
    for (let i = 0; i < parts; i++) {
      const part = partOf(metrics, i, parts);
      if (parts > 1 && part.scopeMetrics.length === 0) continue;
      result = await send(part);
      if (isTooLarge(result) && parts < MOST_PARTS) {
        parts *= 2;
        i = 2 * i - 1;
      } else if (!isSuccess(result)) break;
    }
    if (!isSuccess(result)) parts = before;
    else if (parts > before) note(`${name}: the receiver takes no push of this size: it gets ${parts} parts`, 'info');
    return result;
  }

  exporter.export = (metrics, done) => {
    void sendParts(metrics).then(done);
  };
  return exporter;
}

function isSuccess({ code }: ExportResult): boolean {
  return (code as number) === SUCCESS;
}

/** Part `i` of every metric's points: parts are about equally large, and part `i` is parts `2i` and `2i + 1` of twice as many. */
function partOf(all: ResourceMetrics, i: number, parts: number): ResourceMetrics {
  if (parts === 1) return all;
  const scopeMetrics = all.scopeMetrics.map(({ scope, metrics }) => ({
    scope,
    metrics: metrics.flatMap((metric) => {
      const count = metric.dataPoints.length;
      const [from, to] = [Math.floor((count * i) / parts), Math.floor((count * (i + 1)) / parts)];
      // Each kind of metric has points of its own type.
      return from === to ? [] : [{ ...metric, dataPoints: metric.dataPoints.slice(from, to) } as typeof metric];
    }),
  }));
  return { ...all, scopeMetrics: scopeMetrics.filter(({ metrics }) => metrics.length > 0) };
}

/** Status of gRPC. */
const RESOURCE_EXHAUSTED = 8;
const PAYLOAD_TOO_LARGE = 413;

/** Servers in Go and Node.js say "received message larger than max"; the collector answers HTTP 400 and names the body. */
function isTooLarge(result: ExportResult): boolean {
  const { error } = result;
  if (isSuccess(result) || error === undefined) return false;
  const { code: status, data } = error as { code?: unknown; data?: unknown };
  if (status === RESOURCE_EXHAUSTED) return /larger than max/i.test(error.message);
  return status === PAYLOAD_TOO_LARGE || (status === 400 && /request body too large/i.test(String(data)));
}
