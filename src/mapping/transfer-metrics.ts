/** Metrics of transfers that were put together from consecutive events: size, duration and throughput by direction. */
import {
  METRIC_NIXL_TRANSFER_DIRECTED_DURATION,
  METRIC_NIXL_TRANSFER_SIZE,
  METRIC_NIXL_TRANSFER_THROUGHPUT,
} from './semconv.js';
import type { Distribution, HistogramMetric, Point } from './metric.js';
import type { TransferReading } from './tally.js';

type Measure = 'size' | 'duration' | 'throughput';

const DIRECTIONS = ['transmit', 'receive'] as const;
/** One object per direction, shared by all points. */
const LABELS = { transmit: { direction: 'transmit' }, receive: { direction: 'receive' } } as const;

function points(measure: Measure): Point<Distribution>[] {
  return DIRECTIONS.map((direction) => ({
    labels: LABELS[direction],
    read: (agent) => (agent.transfers[direction] satisfies TransferReading)[measure],
  }));
}

function histogram(name: string, description: string, unit: string, measure: Measure, divisor = 1): HistogramMetric {
  return { name, description, unit, divisor, kind: 'histogram', points: points(measure) };
}

/**
 * The same names in both namings. The directed duration is a metric of its own: a duration whose bytes were filtered
 * out or cut off by a full ring has no direction, so its counts can be below those of the plain duration.
 */
export function transferMetrics(): HistogramMetric[] {
  return [
    histogram(METRIC_NIXL_TRANSFER_SIZE, 'Bytes per finished transfer.', 'By', 'size'),
    histogram(METRIC_NIXL_TRANSFER_THROUGHPUT, 'Bytes per second of each finished transfer.', 'By/s', 'throughput'),
    histogram(
      METRIC_NIXL_TRANSFER_DIRECTED_DURATION,
      'Duration of the transfers whose direction is known, from start to completion.',
      's',
      'duration',
      1e6,
    ),
  ];
}
