/** A unit test of failure-builder.mjs, without agents: node --test examples/failure-builder.test.mjs */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { NixlMetricProducer } from 'opentelemetry-instrumentation-nixl';
import { TestRings } from 'opentelemetry-instrumentation-nixl/testing';
import FailureBuilder from './failure-builder.mjs';

test('counts the failures of an agent', async (t) => {
  const rings = new TestRings();
  t.after(() => rings.close());
  const producer = new NixlMetricProducer({ directories: rings.directory, builders: [new FailureBuilder()] });
  t.after(() => producer.close());
  rings.write('decode-0', { bytes: 4096, timeUs: 120 }, { error: 'backend' }, { error: 'canceled' });
  await rings.counted();
  const { resourceMetrics } = await producer.collect();
  const page = new PrometheusSerializer().serialize(resourceMetrics);
  assert.match(page, /^team_transfer_failures_total\{.*agent="decode-0".*\} 2$/m);
});
