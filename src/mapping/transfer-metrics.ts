/** Metrics of transfers, assembled from consecutive events: size, duration and throughput by direction. */
import type { TransferTally } from '../ground/tally.js';
import { histogramPoint } from './fields.js';
import type { HistogramMetric } from './metric.js';
import * as semconv from './semconv.js';

type TransferMeasure = Exclude<keyof TransferTally, 'count'>;

/** One object per direction, shared by all points. */
const LABELS = { transmit: { direction: 'transmit' }, receive: { direction: 'receive' } } as const;
const DIRECTIONS = ['transmit', 'receive'] as const;

function histogram(
  name: string,
  description: string,
  unit: string,
  measure: TransferMeasure,
  divisor = 1,
): HistogramMetric {
  const points = DIRECTIONS.map((direction) => histogramPoint({ direction, measure }, LABELS[direction]));
  return { name, description, unit, divisor, kind: 'histogram', points };
}

export function transferMetrics(): HistogramMetric[] {
  return [
    histogram(semconv.METRIC_NIXL_TRANSFER_SIZE, 'Size of each finished transfer.', 'By', 'size'),
    histogram(
      semconv.METRIC_NIXL_TRANSFER_THROUGHPUT,
      'Bytes of each transfer divided by its duration.',
      'By/s',
      'throughput',
    ),
  ];
}

/**
 * The directed duration is a separate metric. A duration has no direction if a filter or a full ring removed its bytes:
 * its counts can be below those of the plain duration.
 */
export function durationMetrics(): HistogramMetric[] {
  return [
    histogram(
      semconv.METRIC_NIXL_TRANSFER_DIRECTED_DURATION,
      'Duration of transfers of known direction, from start to completion.',
      's',
      'duration',
      1e6,
    ),
  ];
}
