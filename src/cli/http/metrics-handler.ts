/** The handler of /metrics: collects for each request, in the format that the client asks for. */
import { diag } from '@opentelemetry/api';
import type { CollectionResult, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { reasonOf } from '../../errors.js';
import type { CollectWants } from '../../instrumentation/producer/metric-producer.js';
import { prefersProtobuf, PROMETHEUS_PROTOBUF, PROMETHEUS_TEXT } from './accept.js';
import { TextExposition } from './exposition.js';
import type { Handler } from './metrics-server.js';
import { TimeSlices } from './time-slices.js';

interface PageReader {
  collect(wants: CollectWants): Promise<CollectionResult>;
}

type Encode = (metrics: ResourceMetrics, slices: TimeSlices) => Promise<Uint8Array>;

const NEGOTIATED = { vary: 'accept, accept-encoding' };

/**
 * Serves the metrics of a reader, collected per request. `onFailure` is called for each failed collection.
 * `hasTargetInfo`: with the metric `target_info`, made of the resource.
 */
export function metricsHandler(reader: PageReader, hasTargetInfo: boolean, onFailure: () => void): Handler {
  // An exposition of many agents has megabytes. Therefore only one of a format is made at a time, for any number of scrapers.
  const collectAs = (encode: Encode, exponential: boolean) =>
    coalesce(async () => {
      const slices = new TimeSlices();
      const { resourceMetrics, errors } = await reader.collect({ exponential, turn: () => slices.turn() });
      if (errors.length > 0) diag.error('collecting metrics for /metrics', ...errors);
      return encode(resourceMetrics, slices);
    });
  const page = new TextExposition(hasTargetInfo);
  const text = { type: PROMETHEUS_TEXT, collect: collectAs((metrics, slices) => page.page(metrics, slices), false) };
  const protobuf = { type: PROMETHEUS_PROTOBUF, collect: collectAs(protobufExposition(hasTargetInfo), true) };
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
function protobufExposition(hasTargetInfo: boolean): Encode {
  let loaded: Promise<Encode> | undefined;
  return async (metrics, slices) => {
    loaded ??= import('./protobuf-exposition.js').then(({ ProtobufExposition }) => {
      const exposition = new ProtobufExposition(hasTargetInfo);
      return (metrics, slices) => exposition.page(metrics, slices);
    });
    return (await loaded)(metrics, slices);
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
