/** Formats of the exposition, and the choice between them by the header Accept. Pure. */
import { MIMEType } from 'node:util';

/** OpenTelemetry's exporter names only `text/plain`, which Prometheus 3 warns about. */
export const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';
export const PROMETHEUS_PROTOBUF =
  'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited';

/**
 * Returns whether the client prefers protobuf: it must name this format, and rate it no lower than text. Wildcards ask for
 * text: a person or a script gets what it can read.
 */
export function prefersProtobuf(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const ranges = accept.split(',').flatMap(rangeOf);
  const quality = Math.max(0, ...ranges.filter(({ type }) => isProtobuf(type)).map((range) => range.quality));
  return quality > 0 && quality >= textQuality(ranges);
}

interface MediaRange {
  readonly type: MIMEType;
  /** From 0, not acceptable, to 1. */
  readonly quality: number;
}

/** Returns an empty list for text that is no media range. */
function rangeOf(text: string): MediaRange[] {
  try {
    const type = new MIMEType(text);
    const quality = Number(type.params.get('q') ?? 1);
    return quality >= 0 && quality <= 1 ? [{ type, quality }] : [];
  } catch {
    return [];
  }
}

function isProtobuf({ essence, params }: MIMEType): boolean {
  return (
    essence === 'application/vnd.google.protobuf' &&
    params.get('proto') === 'io.prometheus.client.MetricFamily' &&
    params.get('encoding') === 'delimited'
  );
}

/** The most specific range counts. Of several versions of the text format, it is the one that the client rates highest. */
function textQuality(ranges: readonly MediaRange[]): number {
  for (const essence of ['text/plain', 'text/*', '*/*']) {
    const fitting = ranges.filter(({ type }) => type.essence === essence);
    if (fitting.length > 0) return Math.max(...fitting.map(({ quality }) => quality));
  }
  return 0;
}
