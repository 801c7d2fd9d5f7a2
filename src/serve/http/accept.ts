/** Formats of the exposition, and the choice between them by the header Accept. Pure. */
import { MIMEType } from 'node:util';
import { attempt } from '../../ground/errors.js';

/** OpenTelemetry's exporter names only `text/plain`, which Prometheus 3 warns about. */
export const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';
export const OPENMETRICS_TEXT = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
export const PROMETHEUS_PROTOBUF =
  'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited';

export type ExpositionFormat = 'text' | 'openmetrics' | 'protobuf';

/**
 * Returns the format that the client rates highest. Of equal ones it is the one that says more: protobuf, then OpenMetrics.
 * Both must be named: wildcards ask for text, because a person or a script gets what it can read.
 */
export function formatFor(accept: string | undefined): ExpositionFormat {
  if (accept === undefined) return 'text';
  const ranges = accept.split(',').flatMap(rangeOf);
  const text = textQuality(ranges);
  const of = (isFormat: (type: MIMEType) => boolean): number =>
    Math.max(0, ...ranges.filter(({ type }) => isFormat(type)).map(({ quality }) => quality));
  const [protobuf, openMetrics] = [of(isProtobuf), of(isOpenMetrics)];
  if (protobuf > 0 && protobuf >= Math.max(openMetrics, text)) return 'protobuf';
  return openMetrics > 0 && openMetrics >= text ? 'openmetrics' : 'text';
}

interface MediaRange {
  readonly type: MIMEType;
  /** From 0, not acceptable, to 1. */
  readonly quality: number;
}

/** Returns an empty list for text that is no media range. */
function rangeOf(text: string): MediaRange[] {
  const type = attempt(() => new MIMEType(text));
  const quality = Number(type?.params.get('q') ?? 1);
  return type !== undefined && quality >= 0 && quality <= 1 ? [{ type, quality }] : [];
}

function isProtobuf({ essence, params }: MIMEType): boolean {
  return (
    essence === 'application/vnd.google.protobuf' &&
    params.get('proto') === 'io.prometheus.client.MetricFamily' &&
    params.get('encoding') === 'delimited'
  );
}

function isOpenMetrics({ essence, params }: MIMEType): boolean {
  return essence === 'application/openmetrics-text' && [null, '1.0.0'].includes(params.get('version'));
}

/** The most specific range counts. Of several versions of the text format, it is the one that the client rates highest. */
function textQuality(ranges: readonly MediaRange[]): number {
  for (const essence of ['text/plain', 'text/*', '*/*']) {
    const fitting = ranges.filter(({ type }) => type.essence === essence);
    if (fitting.length > 0) return Math.max(...fitting.map(({ quality }) => quality));
  }
  return 0;
}
