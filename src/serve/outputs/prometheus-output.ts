/** Output prometheus: collected by each scrape. Needs no reader and no provider of the SDK, which would collect the same. */
import { Inside } from '../../ground/inside.js';
import { COLLECT, type PageCollection, NixlMetricProducer } from '../../instrumentation/producer/metric-producer.js';
import { metricsHandler } from '../exposition/metrics-handler.js';
import type { Opening, Output } from './output.js';

export function prometheusOutput({ name, shared, resource, owner }: Opening): Output {
  // Protobuf has both kinds of buckets, text the explicit ones.
  const producer = new NixlMetricProducer({}, new Inside({ ...shared, bothBuckets: true }));
  let isClosed = false;
  const collect = async <T>(exponential: boolean, use: (collection: PageCollection) => Promise<T>): Promise<T> => {
    const own = (await resource()).current();
    return producer[COLLECT](exponential, ({ metrics, ...collection }) => {
      // A failed scrape ends no series, a page without metrics would. The end may have come during the collect.
      if (isClosed) throw new Error('serve is stopping');
      return use({ metrics: { ...metrics, resource: own }, ...collection });
    });
  };
  const close = (): Promise<void> => {
    isClosed = true;
    return producer.shutdown();
  };
  owner.exports?.follow();
  const onEnd = (isMade: boolean, seconds: number): void => owner.exports?.ended(isMade, seconds);
  return { name, exposition: metricsHandler({ collect }, shared.hasOwnMetrics, onEnd), close };
}
