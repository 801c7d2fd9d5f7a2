/** Output prometheus: collected by each scrape. Needs no reader and no provider of the SDK, which would collect the same. */
import type { Resource } from '@opentelemetry/resources';
import { COLLECT, sharedProducer } from '../../instrumentation/producer/metric-producer.js';
import type { SnapshotWants } from '../../shm-bridge/source.js';
import { metricsHandler } from '../http/metrics-handler.js';
import type { Opening, Output } from './output.js';

export function prometheusOutput({ name, shared, owner }: Opening): Output {
  // Protobuf has both kinds of buckets, text the explicit ones.
  const producer = sharedProducer({}, { ...shared, bothBuckets: true });
  let resource: Resource | undefined;
  let isClosed = false;
  const collect = async (wants: SnapshotWants) => {
    // Loaded with the first scrape: OpenTelemetry needs some ninety modules for the resource.
    resource ??= (await import('./resource.js')).serviceResource();
    const { metrics, errors } = await producer[COLLECT](wants);
    // A failed scrape ends no series, a page without metrics would. The end may have come during the collect.
    if (isClosed) throw new Error('serve is stopping');
    return { metrics: { ...metrics, resource }, errors };
  };
  const close = (): Promise<void> => {
    isClosed = true;
    return producer.shutdown();
  };
  return { name, exposition: metricsHandler({ collect }, shared.hasOwnMetrics, owner.onFailure), close };
}
