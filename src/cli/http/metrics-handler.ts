/** The handler of /metrics: collects for each request, in the format that the client asks for. */
import { diag } from '@opentelemetry/api';
import { reasonOf } from '../../errors.js';
import type { PageCollection, PageMetrics } from '../../instrumentation/producer/metric-producer.js';
import type { TimeSlices } from '../../time-slices.js';
import { prefersProtobuf, PROMETHEUS_PROTOBUF, PROMETHEUS_TEXT } from './accept.js';
import { TextExposition } from './exposition.js';
import type { Handler } from './metrics-server.js';

interface PageReader {
  /** Resolves to what `use` resolves to. */
  collect<T>(exponential: boolean, use: (collection: PageCollection) => Promise<T>): Promise<T>;
}

interface Exposition {
  page(metrics: PageMetrics, slices: TimeSlices): Promise<Uint8Array>;
  reuse(page: Uint8Array): void;
}

/** Called when a page is made, or has failed. */
type PageEnd = (isMade: boolean, seconds: number) => void;

const NEGOTIATED = { vary: 'accept, accept-encoding' };

/**
 * Serves the metrics of a reader, collected per request. `hasTargetInfo`: with the metric `target_info`, made of the
 * resource. `onEnd`: called for each page, which requests of the same time share.
 */
export function metricsHandler(reader: PageReader, hasTargetInfo: boolean, onEnd: PageEnd): Handler {
  const text = format(reader, false, onEnd, () => Promise.resolve(new TextExposition(hasTargetInfo)));
  // Loaded with the first request for it: most scrapers ask for text.
  const protobuf = format(reader, true, onEnd, async () => {
    const { ProtobufExposition } = await import('./protobuf-exposition.js');
    return new ProtobufExposition(hasTargetInfo);
  });
  return ({ headers }, answer) => {
    const [type, page] = prefersProtobuf(headers.accept) ? [PROMETHEUS_PROTOBUF, protobuf] : [PROMETHEUS_TEXT, text];
    page().then(
      ({ bytes, use }) => answer(200, bytes, type, NEGOTIATED, use()),
      (error: unknown) => {
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
function format(
  reader: PageReader,
  exponential: boolean,
  onEnd: PageEnd,
  load: () => Promise<Exposition>,
): () => Promise<Page> {
  let loaded: Promise<Exposition> | undefined;
  return coalesce(async () => {
    const exposition = await (loaded ??= load());
    const page = (): Promise<Uint8Array> =>
      reader.collect(exponential, ({ metrics, slices, errors }) => {
        if (errors.length > 0) diag.error('collecting metrics for /metrics', ...errors);
        return exposition.page(metrics, slices);
      });
    const bytes = await timed(page, onEnd);
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

/** Calls `onEnd` with the result of the work and its seconds. */
async function timed<T>(work: () => Promise<T>, onEnd: PageEnd): Promise<T> {
  const begin = performance.now();
  let isMade = false;
  try {
    const made = await work();
    isMade = true;
    return made;
  } finally {
    onEnd(isMade, (performance.now() - begin) / 1000);
  }
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
