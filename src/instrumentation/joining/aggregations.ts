/**
 * Aggregations that a reader selects. A tally supports `drop` and its own aggregation; for histograms these are explicit
 * buckets with its own bounds, and exponential ones.
 */
import type { AggregationOption, MetricData } from '@opentelemetry/sdk-metrics';
import type { HistogramKind } from '../../settings/histograms.js';
import { DEFAULT_FORM, type ExponentialForm } from '../producer/exponential.js';
import { AggregationType, DataPointType, InstrumentType } from '../sdk-enums.js';
import { exportsByOtlp, isPrometheusExporter, type SdkReader } from './sdk-provider.js';

const {
  DEFAULT,
  DROP,
  SUM,
  LAST_VALUE,
  EXPLICIT_BUCKET_HISTOGRAM,
  EXPONENTIAL_HISTOGRAM: EXPONENTIAL,
} = AggregationType;
const OWN: Readonly<Record<Kind, readonly AggregationType[]>> = {
  counter: [SUM],
  updowncounter: [SUM],
  gauge: [LAST_VALUE],
  histogram: [EXPLICIT_BUCKET_HISTOGRAM, EXPONENTIAL],
};
const NAMES = ['default', 'drop', 'sum', 'last value', 'explicit bucket histogram', 'exponential histogram'];

const INSTRUMENTS = {
  counter: InstrumentType.OBSERVABLE_COUNTER,
  updowncounter: InstrumentType.OBSERVABLE_UP_DOWN_COUNTER,
  gauge: InstrumentType.OBSERVABLE_GAUGE,
  histogram: InstrumentType.HISTOGRAM,
} as const;
type Kind = keyof typeof INSTRUMENTS;
const KINDS = Object.keys(INSTRUMENTS) as Kind[];

/** The reader of a custom exporter may lack the selector. */
type SelectingReader = Pick<SdkReader, 'selectAggregation'>;

/** Returns the kinds that the reader drops. Calls `onOther` for each kind with an unsupported aggregation. */
export function droppedKinds(
  reader: SelectingReader,
  onOther: (kind: Kind, wanted: string) => void,
): ReadonlySet<Kind> {
  const dropped = new Set<Kind>();
  for (const kind of KINDS) {
    const { type, bounds } = selected(reader.selectAggregation?.(INSTRUMENTS[kind]));
    const isOwn = OWN[kind].includes(type) && !(type === EXPONENTIAL && isPrometheusExporter(reader));
    if (type === DROP) dropped.add(kind);
    else if (type !== DEFAULT && !isOwn) onOther(kind, NAMES[type] ?? `aggregation ${type}`);
    else if (bounds) onOther(kind, 'explicit bucket histogram with other bounds');
  }
  return dropped;
}

/** Returns the aggregation of histograms for a reader. `ofOtlp`: for a reader that exports by OTLP and selects none. */
export function histogramsFor(reader: SelectingReader, ofOtlp: HistogramKind): AggregationOption {
  if (isPrometheusExporter(reader)) return { type: DEFAULT };
  const aggregation = reader.selectAggregation?.(InstrumentType.HISTOGRAM);
  if (selected(aggregation).type !== DEFAULT) return aggregation as AggregationOption;
  return ofOtlp === 'exponential' && exportsByOtlp(reader) ? { type: EXPONENTIAL } : { type: DEFAULT };
}

/** Returns the options of an exponential histogram; undefined for any other aggregation. */
export function exponentialForm(aggregation: unknown): ExponentialForm | undefined {
  const { type, maxSize, recordMinMax } = selected(aggregation);
  if (type !== EXPONENTIAL) return undefined;
  return {
    // The SDK as well takes 2 for any number below.
    maxSize: typeof maxSize === 'number' ? Math.max(2, maxSize) : DEFAULT_FORM.maxSize,
    hasMinMax: recordMinMax !== false,
  };
}

/** Returns the aggregation that the SDK's own instruments take for this form. */
export function aggregationOf(form: ExponentialForm | undefined): AggregationOption {
  if (form === undefined) return { type: DEFAULT };
  return { type: EXPONENTIAL, options: { maxSize: form.maxSize, recordMinMax: form.hasMinMax } };
}

export function kindOf(metric: MetricData): Kind {
  if (metric.dataPointType === DataPointType.GAUGE) return 'gauge';
  if (metric.dataPointType !== DataPointType.SUM) return 'histogram';
  return metric.isMonotonic ? 'counter' : 'updowncounter';
}

interface Selected {
  /** May be a number that the enum does not have. */
  readonly type: AggregationType;
  readonly bounds?: boolean;
  readonly maxSize?: unknown;
  readonly recordMinMax?: unknown;
}

/** sdk-metrics 2 and 3 select by `{ type, options }`; 1.x by an instance of a class. */
function selected(aggregation: unknown): Selected {
  if (typeof aggregation !== 'object' || aggregation === null) return { type: DEFAULT };
  const { type, options } = aggregation as { type?: unknown; options?: Readonly<Record<string, unknown>> };
  if (typeof type === 'number') return { type, ...options, bounds: Array.isArray(options?.['boundaries']) };
  const { name } = aggregation.constructor;
  if (name === 'DropAggregation') return { type: DROP };
  if (name !== 'ExponentialHistogramAggregation') return { type: DEFAULT };
  const { _maxSize: maxSize, _recordMinMax: recordMinMax } = aggregation as Readonly<Record<string, unknown>>;
  return { type: EXPONENTIAL, maxSize, recordMinMax };
}
