// `node --expose-gc stages.mjs DIRECTORY AGENTS RUNS SERIES`: prints one line of JSON with the median milliseconds of each stage of
// a scrape or an export of the agents of a directory, with this preset of series, and with its bytes. In a separate process
// it collects only its own garbage.
import { Inside } from '../../dist/ground/inside.js';
import { TEXT } from '../../dist/serve/exposition/forms.js';
import { Page } from '../../dist/serve/exposition/page.js';
import { BuilderMetrics } from '../../dist/instrumentation/builders/builder-metrics.js';
import { SourceFeed } from '../../dist/instrumentation/feed/snapshot-feed.js';
import { COLLECT, NixlMetricProducer } from '../../dist/instrumentation/producer/metric-producer.js';
import { producerSettings } from '../../dist/settings/settings.js';
import { openSource } from '../../dist/shm-bridge/index.js';
import { KeptSnapshot } from '../../dist/shm-bridge/kept-snapshot.js';
import { diag } from '@opentelemetry/api';
import { JsonMetricsSerializer, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import { emptyResource } from '@opentelemetry/resources';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { quantile } from './measure.mjs';

const [directory, agentsText, runsText, series] = process.argv.slice(2);
const agents = Number(agentsText);
const runs = Number(runsText);

// As serve does it, for a page in text.
const { source: sourceOptions, ...profile } = producerSettings({ directories: directory, series });
const source = openSource(sourceOptions);
const feed = new SourceFeed(source, diag);
const builderMetrics = BuilderMetrics.of(profile, diag);
const producer = new NixlMetricProducer({}, new Inside({ ...profile, feed, builderMetrics, bothBuckets: true }));
const reader = source.openReader();
const kept = new KeptSnapshot();
let exposition = new Page(TEXT, profile.hasOwnMetrics);

/** Milliseconds by stage. */
const times = {};
function timed(stage, work) {
  const begun = performance.now();
  const result = work();
  (times[stage] ??= []).push(performance.now() - begun);
  return result;
}

/** Times asynchronous work, other work in between included. */
async function timedUntil(stage, work) {
  const begun = performance.now();
  const result = await work();
  (times[stage] ??= []).push(performance.now() - begun);
  return result;
}

/** Collects for a page, which is made of the agents' words. */
function collect() {
  return producer[COLLECT](false, async ({ metrics: { agents, scopeMetrics }, errors }) => {
    if (errors.length > 0) throw errors[0];
    const own = scopeMetrics.map(({ metrics }) => ({ metrics: [...metrics] }));
    return { resource: emptyResource(), agents, scopeMetrics: own };
  });
}

/** Makes the metrics of an export. */
async function exported() {
  const { resourceMetrics } = await producer.collect();
  return { ...resourceMetrics, resource: emptyResource() };
}

while (source.snapshot().agents.filter(({ exported }) => exported).length < agents) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
let page;
let json;
let protobuf;
let metrics;
for (let run = 0; run < runs + 3; run++) {
  if (run === 3) for (const stage of Object.keys(times)) times[stage] = []; // the first three warmed up
  timed('drainMs', () => source.drainNow());
  timed('snapshotMs', () => reader.snapshot({ exponential: false, kept }));
  const ofPage = await timedUntil('collectMs', collect);
  if (page !== undefined) exposition.reuse(page);
  page = await timedUntil('pageMs', () => exposition.page(ofPage));
  metrics = await exported();
  json = timed('jsonMs', () => JsonMetricsSerializer.serializeRequest(metrics));
  protobuf = timed('protobufMs', () => ProtobufMetricsSerializer.serializeRequest(metrics));
}
/** Memory in use, of JavaScript and of buffers. */
async function usedBytes() {
  // Memory of buffers is released in a later turn than their objects.
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc();
    await setImmediate();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
page = Buffer.from(page); // the last page itself is not kept
const withKept = await usedBytes();
exposition = undefined;
const keptBytes = withKept - (await usedBytes());

const gzipped = (bytes) => gzipSync(bytes, { level: 1 }).length;
const lines = page
  .toString()
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
console.log(
  JSON.stringify({
    series: lines.length,
    buckets: lines.filter((line) => /^\w+_bucket\{/.test(line)).length,
    ...Object.fromEntries(Object.entries(times).map(([stage, values]) => [stage, quantile(values)])),
    keptBytes,
    pageBytes: page.length,
    pageGzipBytes: gzipped(page),
    jsonBytes: json.length,
    protobufBytes: protobuf.length,
    protobufGzipBytes: gzipped(protobuf),
  }),
);
producer.close();
feed.close();
