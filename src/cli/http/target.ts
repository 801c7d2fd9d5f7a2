/** The family `target_info`: the attributes of the resource as labels. */
import type { DataPoint } from '@opentelemetry/sdk-metrics';
import type { PageMetrics } from '../../instrumentation/producer/metric-producer.js';
import type { Family } from './spelling.js';

export const TARGET: Family = { name: 'target_info', help: 'Target metadata', unit: '', type: 'gauge' };

export function targetPoints({ attributes }: PageMetrics['resource']): DataPoint<number>[] {
  return [{ attributes, value: 1, startTime: [0, 0], endTime: [0, 0] }];
}
