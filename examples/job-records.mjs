/** Jobs of a training service, through the same attributes and builders as the agents' events. */
import { NixlMetricProducer } from 'opentelemetry-instrumentation-nixl';
import { printMetrics, ringDirectory } from './support.mjs';

const producer = new NixlMetricProducer({
  directories: ringDirectory(),
  attributes: [{ name: 'gpus', source: 'gpu_identifier', default: 'none' }],
  builders: ['records'],
});
const A100 = 'NVIDIA A100';
const V100 = 'NVIDIA V100';
const jobs = [
  { action: 'train', network: 'ResNet-50', version: '1.2', success: true, gpu: [A100, A100, V100], time_lapsed: 30 },
  { action: 'train', network: 'ResNet-50', version: '1.2', success: false, gpu: [A100], time_lapsed: 4 },
  { action: 'train', network: 'BERT', version: '1.3', success: false, user_error: true, gpu: [V100], time_lapsed: 1 },
  { action: 'evaluate', network: 'BERT', version: '1.3', success: true, gpu: [V100], time_lapsed: 2 },
];
for (const job of jobs) producer.processor.process(job);
await printMetrics(producer, /^nixl_records/);
producer.close();
