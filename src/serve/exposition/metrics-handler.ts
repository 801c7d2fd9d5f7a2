/** The handler of /metrics: collects for each request, in the format that the client asks for. */
import { diag } from '@opentelemetry/api';
import { reasonOf } from '../../ground/errors.js';
import type { PageCollection } from '../../instrumentation/producer/metric-producer.js';
import { formatFor } from '../http/accept.js';
import { queriedNames, PageParts } from './family-places.js';
import { type Form, OPENMETRICS, PROTOBUF, TEXT } from './forms.js';
import type { Handler } from '../http/metrics-server.js';
import { Page } from './page.js';

interface PageReader {
  /** Resolves to what `use` resolves to. */
  collect<T>(exponential: boolean, use: (collection: PageCollection) => Promise<T>): Promise<T>;
}

/** Called when a page is made, or has failed. */
type PageEnd = (isMade: boolean, seconds: number) => void;

const NEGOTIATED = { vary: 'accept, accept-encoding' };

/**
 * Serves the metrics of a reader, collected per request, or those of the families that `name[]` names. `hasTargetInfo`: with the metric `target_info`, made of the
 * resource. `onEnd`: called for each page, which requests of the same time share.
 */
export function metricsHandler(reader: PageReader, hasTargetInfo: boolean, onEnd: PageEnd): Handler {
  const of = <Labels>(form: Form<Labels>): Format => ({
    contentType: form.contentType,
    page: pagesOf(reader, form, hasTargetInfo, onEnd),
  });
  const formats = { text: of(TEXT), openmetrics: of(OPENMETRICS), protobuf: of(PROTOBUF) };
  // Scrapers send the same header each time.
  let lastAccept: string | undefined;
  let last = formats.text;
  return ({ headers, url }, answer, room) => {
    if (headers.accept !== lastAccept) [lastAccept, last] = [headers.accept, formats[formatFor(headers.accept)]];
    const { contentType, page } = last;
    const names = queriedNames(url?.split('?', 2)[1]);
    const send = async (): Promise<void> => {
      await room();
      const { bytes, parts, use } = await page();
      const end = use();
      answer(200, names.size === 0 ? bytes : parts.of(names), contentType, NEGOTIATED, end);
    };
    send().catch((error: unknown) => {
      answer(500, `# failed to export metrics: ${reasonOf(error)}`, undefined, NEGOTIATED);
    });
  };
}

interface Format {
  readonly contentType: string;
  readonly page: () => Promise<MadePage>;
}

interface MadePage {
  readonly bytes: Uint8Array;
  readonly parts: PageParts;
  /** Returns the end of this use. After the end of all uses the next page is made in the memory of this one. */
  readonly use: () => () => void;
}

/** A page of many agents has megabytes. Therefore only one of a format is made at a time, for any number of scrapers. */
function pagesOf<Labels>(
  reader: PageReader,
  form: Form<Labels>,
  hasTargetInfo: boolean,
  onEnd: PageEnd,
): () => Promise<MadePage> {
  const exposition = new Page(form, hasTargetInfo);
  return coalesce(async () => {
    const page = (): Promise<Uint8Array> =>
      reader.collect(form.isExponential, ({ metrics, slices, errors }) => {
        if (errors.length > 0) diag.error('collecting metrics for /metrics', ...errors);
        return exposition.page(metrics, slices);
      });
    const bytes = await timed(page, onEnd);
    const parts = new PageParts(bytes, exposition.places, form.end);
    let uses = 0;
    // In a later turn: all answers that share the page begin in one, and the first may end at once.
    const end = (): void => void setImmediate(() => --uses === 0 && exposition.reuse(bytes));
    return {
      bytes,
      parts,
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
