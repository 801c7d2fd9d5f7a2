/** The handler of /metrics: collects for each request, in the format that the client asks for. */
import { diag } from '@opentelemetry/api';
import { reasonOf } from '../../errors.js';
import type { PageCollection, PageMetrics } from '../../instrumentation/producer/metric-producer.js';
import { prefersProtobuf, PROMETHEUS_PROTOBUF, PROMETHEUS_TEXT } from './accept.js';
import { TextExposition } from './exposition.js';
import type { Handler } from './metrics-server.js';

interface PageReader {
  /** Resolves to what `use` resolves to. */
  collect<T>(exponential: boolean, use: (collection: PageCollection) => Promise<T>): Promise<T>;
}

interface Exposition {
  page(metrics: PageMetrics): Promise<Uint8Array>;
  reuse(page: Uint8Array): void;
}

const NEGOTIATED = { vary: 'accept, accept-encoding' };

/**
 * Serves the metrics of a reader, collected per request. `onFailure` is called for each failed collection.
 * `hasTargetInfo`: with the metric `target_info`, made of the resource.
 */
export function metricsHandler(reader: PageReader, hasTargetInfo: boolean, onFailure: () => void): Handler {
  const text = format(reader, false, () => Promise.resolve(new TextExposition(hasTargetInfo)));
  // Loaded with the first request for it: most scrapers ask for text.
  const protobuf = format(reader, true, async () => {
    const { ProtobufExposition } = await import('./protobuf-exposition.js');
    return new ProtobufExposition(hasTargetInfo);
  });
  return ({ headers }, answer) => {
    const [type, page] = prefersProtobuf(headers.accept) ? [PROMETHEUS_PROTOBUF, protobuf] : [PROMETHEUS_TEXT, text];
    page().then(
      ({ bytes, use }) => answer(200, bytes, type, NEGOTIATED, use()),
      (error: unknown) => {
        onFailure();
        answer(500, `# failed to export metrics: ${reasonOf(error)}`, undefined, NEGOTIATED);
      },
    );
  };
}

interface Page {
  readonly bytes: Uint8Array;
  /** Returns the end of this use. After the end of all uses the next page is made in the memory of this one. */
  readonly use: () => () => void;
}

/** A page of many agents has megabytes. Therefore only one of a format is made at a time, for any number of scrapers. */
function format(reader: PageReader, exponential: boolean, load: () => Promise<Exposition>): () => Promise<Page> {
  let loaded: Promise<Exposition> | undefined;
  return coalesce(async () => {
    const exposition = await (loaded ??= load());
    const bytes = await reader.collect(exponential, ({ metrics, errors }) => {
      if (errors.length > 0) diag.error('collecting metrics for /metrics', ...errors);
      return exposition.page(metrics);
    });
    let uses = 0;
    // In a later turn: all answers that share the page begin in one, and the first may end at once.
    const end = (): void => void setImmediate(() => --uses === 0 && exposition.reuse(bytes));
    return {
      bytes,
      use: () => {
        uses++;
        return end;
      },
    };
  });
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
