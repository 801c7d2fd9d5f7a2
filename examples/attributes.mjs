/** Custom attributes from a configuration file: role and rank from the agents' names, a label from their processes. */
import { fileURLToPath } from 'node:url';
import { NixlMetricProducer } from 'opentelemetry-instrumentation-nixl';
import { printMetrics, ringDirectory, runAgents } from './support.mjs';

const directory = ringDirectory();
const configFile = fileURLToPath(new URL('attributes.yaml', import.meta.url));
const producer = new NixlMetricProducer({ directories: directory, configFile, hostname: 'example' });
await Promise.all([
  runAgents(directory, { names: 'prefill', env: { LOCAL_RANK: '0', MODEL: 'Llama 3' } }),
  runAgents(directory, { names: 'decode', env: { LOCAL_RANK: '1' } }),
]);
await printMetrics(producer, /^agent_tx_bytes_total/);
producer.close();
