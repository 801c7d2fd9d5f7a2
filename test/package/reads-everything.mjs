// Prints the events of each ring and the metrics of all as this platform reads them, without values that differ between
// runs. With a third argument it first writes the events in that file to rings of every wire version.
//
//   node reads-everything.mjs DIRECTORY [EVENTS.json]
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { NixlMetricProducer } from 'opentelemetry-instrumentation-nixl';
import { observeRing, RingWriter } from 'opentelemetry-instrumentation-nixl/rings';

const [, , directory, written] = process.argv;
const asText = (_, value) => (typeof value === 'bigint' ? `${value}n` : value);

if (written !== undefined) {
  const rings = JSON.parse(readFileSync(written, 'utf8'), (_, value) =>
    /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  );
  for (const [wireVersion, events] of Object.entries(rings)) {
    const writer = new RingWriter(path.join(directory, `v${wireVersion}`), {
      wireVersion: Number(wireVersion),
      capacity: 64,
    });
    for (const event of events) if (!writer.push(event)) throw new Error(`v${wireVersion} is full`);
    writer.close();
  }
}

const events = {};
for (const name of readdirSync(directory).sort()) {
  const observer = observeRing(path.join(directory, name));
  events[name] = observer.observe().events;
  observer.close();
}

const producer = new NixlMetricProducer({ directories: directory, hostname: 'host', drainIntervalMs: 5 });
const total = Object.values(events).flat().length;
const EVENT = /^(agent_|nixl\.(events?|transfer|memory|errors)\b)/;
for (let counted = 0; counted !== total;) {
  const { resourceMetrics } = await producer.collect();
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  const points = metrics.find(({ descriptor }) => descriptor.name === 'nixl.events')?.dataPoints ?? [];
  counted = points.reduce((sum, { value }) => sum + value, 0);
  if (counted !== total) continue;
  const shown = metrics
    .filter(({ descriptor }) => EVENT.test(descriptor.name))
    .map(({ descriptor, dataPoints }) => [
      descriptor.name,
      dataPoints.map(({ attributes, value }) => [JSON.stringify(attributes), value]).sort(),
    ]);
  console.log(JSON.stringify({ events, shown }, asText, 1));
}
producer.close();
