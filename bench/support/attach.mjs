// `node attach.mjs DIRECTORY AGENTS`: milliseconds from the creation of a producer to a collection with all agents.
import { NixlMetricProducer } from '../../dist/index.js';

const [directory, agents] = process.argv.slice(2);
const begun = performance.now();
const producer = new NixlMetricProducer({ directories: directory });
for (;;) {
  const { resourceMetrics } = await producer.collect();
  const metrics = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
  const up = metrics.find(({ descriptor }) => descriptor.name === 'nixl.agent.up');
  if ((up?.dataPoints.length ?? 0) >= Number(agents)) break;
}
console.log(performance.now() - begun);
producer.close();
