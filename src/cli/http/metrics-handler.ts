/** The handler of /metrics: collects for each request, in the format that the client asks for. */
import { diag } from '@opentelemetry/api';
import type { IMetricReader, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { reasonOf } from '../../errors.js';
import { prefersProtobuf, PROMETHEUS_PROTOBUF, PROMETHEUS_TEXT } from './accept.js';
import { exposition } from './exposition.js';
import type { Handler } from './metrics-server.js';

type Encode = (metrics: ResourceMetrics, hasTargetInfo: boolean) => Promise<string | Uint8Array>;

const NEGOTIATED = { vary: 'accept, accept-encoding' };

/**
 * Serves the metrics of a reader, collected per request. `onFailure` is called for each failed collection.
 * `hasTargetInfo`: with the metric `target_info`, made of the resource.
 */
export function metricsHandler(
  reader: Pick<IMetricReader, 'collect'>,
  hasTargetInfo: boolean,
  onFailure: () => void,
): Handler {
  // An exposition of many agents has megabytes. Therefore only one of a format is made at a time, for any number of scrapers.
  const collectAs = (encode: Encode) =>
    coalesce(async () => {
      const { resourceMetrics, errors } = await reader.collect();
      if (errors.length > 0) diag.error('collecting metrics for /metrics', ...errors);
      return encode(resourceMetrics, hasTargetInfo);
    });
  const text = { type: PROMETHEUS_TEXT, collect: collectAs(exposition) };
  const protobuf = { type: PROMETHEUS_PROTOBUF, collect: collectAs(protobufExposition) };
  return ({ headers }, answer) => {
    const { type, collect } = prefersProtobuf(headers.accept) ? protobuf : text;
    collect().then(
      (body) => answer(200, body, type, NEGOTIATED),
      (error: unknown) => {
        onFailure();
        answer(500, `# failed to export metrics: ${reasonOf(error)}`, undefined, NEGOTIATED);
      },
    );
  };
}

/** Loads the encoder with the first request for it: most scrapers ask for text. */
async function protobufExposition(metrics: ResourceMetrics, hasTargetInfo: boolean): Promise<Uint8Array> {
  const { protobufExposition: encode } = await import('./protobuf-exposition.js');
  return encode(metrics, hasTargetInfo);
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
