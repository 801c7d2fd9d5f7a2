/** Events of a backend that NIXL does not know, declared in a configuration file. Undeclared events are counted too. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { NixlMetricProducer } from 'opentelemetry-instrumentation-nixl';
import { Category, RingWriter } from 'opentelemetry-instrumentation-nixl/rings';
import { printMetrics, ringDirectory } from './support.mjs';

const directory = ringDirectory();
const writer = new RingWriter(path.join(directory, 'backend'), { wireVersion: 1 });
const push = (name, value) => writer.push({ name, category: Category.BACKEND, value });
for (const depth of [3, 8, 5]) push('queue_depth', depth);
for (const peer of ['a', 'b', 'a']) push(`retry_${peer}`, 1);
for (const us of [40, 90, 400, 2000]) push('stage_us', us);
push('something_else', 1);

const configFile = fileURLToPath(new URL('backend-events.yaml', import.meta.url));
const producer = new NixlMetricProducer({ directories: directory, configFile, hostname: 'example' });
await printMetrics(producer, /^backend_|event="something_else"/);
producer.close();
writer.close();
