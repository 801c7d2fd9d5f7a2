/** A service without NIXL that publishes CUSTOM and SYSTEM events in a ring. Readers of NIXL's rings can read them. */
import path from 'node:path';
import { NixlMetricProducer } from 'opentelemetry-instrumentation-nixl';
import { Category, RingWriter } from 'opentelemetry-instrumentation-nixl/rings';
import { printMetrics, ringDirectory } from './support.mjs';

const directory = ringDirectory();
const writer = new RingWriter(path.join(directory, 'cache-service'), { wireVersion: 1 });
for (const hits of [17, 25]) {
  // false: the ring is full, because no consumer drains it, or too slowly.
  if (!writer.push({ name: 'cache_hits', category: Category.CUSTOM, value: hits })) console.error('ring full');
}
writer.push({ name: 'resident_bytes', category: Category.SYSTEM, value: process.memoryUsage().rss });

const producer = new NixlMetricProducer({ directories: directory, hostname: 'example' });
await printMetrics(producer, /^nixl_event/);
producer.close();
writer.close();
