/** Choice between histograms with explicit buckets and exponential ones. */
import type { Variable } from './row.js';
import { value, word } from './shape.js';

export const HISTOGRAM_KINDS = ['explicit', 'exponential'] as const;
export type HistogramKind = (typeof HISTOGRAM_KINDS)[number];

/** Choice of a service: a kind, or the selector of its metric reader. */
export const HISTOGRAMS = value(
  '"explicit", "exponential" or a function from instrument type to aggregation',
  undefined,
  (given) => HISTOGRAM_KINDS.some((kind) => kind === given) || typeof given === 'function',
);

/** OpenTelemetry's names of the two aggregations. */
const AGGREGATIONS = {
  explicit_bucket_histogram: 'explicit',
  base2_exponential_bucket_histogram: 'exponential',
} as const satisfies Record<string, HistogramKind>;
const aggregationName = word(Object.keys(AGGREGATIONS) as (keyof typeof AGGREGATIONS)[], { lowerCase: true });

/** OpenTelemetry's variable for OTLP exporters. */
export const histogramVariable: Variable = {
  name: 'OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION',
  parse: (text) => AGGREGATIONS[aggregationName.parse!(text)],
  note: '`explicit_bucket_histogram` or `base2_exponential_bucket_histogram`',
};
