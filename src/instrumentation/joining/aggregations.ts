/** Aggregations that a reader selects. A tally supports `drop` and its own aggregation. */
import { DataPointType, InstrumentType, type MetricData } from '@opentelemetry/sdk-metrics';
import type { SdkReader } from './sdk-provider.js';

/** Values of sdk-metrics' AggregationType, which 1.x does not export. */
const DEFAULT = 0;
const DROP = 1;
const OWN: Readonly<Record<Kind, number>> = { counter: 2, updowncounter: 2, gauge: 3, histogram: 4 };
const NAMES = ['default', 'drop', 'sum', 'last value', 'explicit bucket histogram', 'exponential histogram'];

const INSTRUMENTS = {
  counter: InstrumentType.OBSERVABLE_COUNTER,
  updowncounter: InstrumentType.OBSERVABLE_UP_DOWN_COUNTER,
  gauge: InstrumentType.OBSERVABLE_GAUGE,
  histogram: InstrumentType.HISTOGRAM,
} as const;
type Kind = keyof typeof INSTRUMENTS;
const KINDS = Object.keys(INSTRUMENTS) as Kind[];

/** Returns the kinds that the reader drops. Calls `onOther` for each kind with an unsupported aggregation. */
export function droppedKinds(reader: SdkReader, onOther: (kind: Kind, wanted: string) => void): ReadonlySet<Kind> {
  const dropped = new Set<Kind>();
  for (const kind of KINDS) {
    const { type, bounds } = selected(reader.selectAggregation?.(INSTRUMENTS[kind]));
    if (type === DROP) dropped.add(kind);
    else if (type !== DEFAULT && type !== OWN[kind]) onOther(kind, NAMES[type] ?? `aggregation ${type}`);
    else if (bounds) onOther(kind, 'explicit bucket histogram with other bounds');
  }
  return dropped;
}

export function kindOf(metric: MetricData): Kind {
  if (metric.dataPointType === DataPointType.GAUGE) return 'gauge';
  if (metric.dataPointType !== DataPointType.SUM) return 'histogram';
  return metric.isMonotonic ? 'counter' : 'updowncounter';
}

/** sdk-metrics 2 and 3 select by `{ type, options }`; 1.x by an instance of a class. */
function selected(aggregation: unknown): { type: number; bounds: boolean } {
  if (typeof aggregation !== 'object' || aggregation === null) return { type: DEFAULT, bounds: false };
  const { type, options } = aggregation as { type?: unknown; options?: { boundaries?: unknown } };
  if (typeof type === 'number') return { type, bounds: Array.isArray(options?.boundaries) };
  const { name } = aggregation.constructor;
  if (name === 'DropAggregation') return { type: DROP, bounds: false };
  return { type: name === 'ExponentialHistogramAggregation' ? 5 : DEFAULT, bounds: false };
}
