/**
 * A custom builder: one counter of failures by agent, over all errors, to alert on. It reads the gains of the native tally
 * between two collects, so a million events cost no more than one.
 */
import { NixlMetricProducer } from 'opentelemetry-instrumentation-nixl';
import { isProgram, printMetrics, ringDirectory, runAgents } from './support.mjs';

export default class FailureBuilder {
  name = 'failures';

  create(meter) {
    this.failures = meter.createCounter('team.transfer.failures', { description: 'Failed operations of agents.' });
  }

  observe(gains) {
    for (const { event, agent, count, attributes } of gains) {
      if (event.startsWith('agent_err_')) this.failures.add(count, { ...attributes, agent });
    }
  }
}

if (isProgram(import.meta.url)) {
  const directory = ringDirectory();
  const producer = new NixlMetricProducer({ directories: directory, builders: ['nixl', new FailureBuilder()] });
  await runAgents(directory, { more: ['--errors', '20'] });
  await printMetrics(producer, /^(team_|agent_errors_total.* [1-9])/);
  producer.close();
}
