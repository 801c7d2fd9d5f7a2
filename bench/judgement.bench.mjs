/** Judging the speed of all agents of a host, as serve does for each sample of its history. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SAMPLE_MS } from '../dist/serve/history/recorder.js';
import { SlownessJudge } from '../dist/view/slowness/slowness-judge.js';
import { round } from './support/measure.mjs';

export const title =
  'CPU and memory of judging the speed of busy agents that move twelve sizes (limits: 5 ms a second, 8 MB)';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

const CLASSES = 12;
/** Times of a class spread over so many buckets, a factor of 30. */
const BUCKETS = 40;
/** Transfers of a class between two samples. */
const TRANSFERS = 60;
/** After so many samples the longest window is full, and the usual times are known. */
const WARM_SAMPLES = 40;

export async function run({ quick }) {
  const rows = [];
  for (const agents of quick ? [4] : [64, 300]) rows.push(await measure(agents, quick ? 5 : 100));
  return rows;
}

async function measure(agents, samples) {
  const hosts = Array.from({ length: agents }, (_, id) => agentNamed(id));
  const judge = new SlownessJudge();
  const before = await bytesInUse();
  let cpuUs = 0;
  for (let sample = -WARM_SAMPLES; sample < samples; sample++) {
    for (const { timeBySize } of hosts) timeBySize.receive.classes.forEach(grow);
    const begun = process.cpuUsage();
    judge.take((sample + WARM_SAMPLES) * SAMPLE_MS, hosts);
    const { user, system } = process.cpuUsage(begun);
    if (sample >= 0) cpuUs += user + system;
  }
  const bytes = (await bytesInUse()) - before;
  return { agents, sampleMs: cpuUs / 1000 / samples, bytes, facts: judge.facts.length };
}

function agentNamed(id) {
  const none = { classes: [], endedInPost: 0, flushSquares: 0n };
  const classes = Array.from({ length: CLASSES }, (_, i) => ({
    upToBytes: 2 ** (12 + i),
    count: 0,
    bytes: 0n,
    duration: timesFrom(60 + 8 * i),
    post: timesFrom(30),
  }));
  return {
    id,
    name: `agent-${id}`,
    place: `/rings/agent-${id}`,
    timeBySize: { transmit: none, receive: { ...none, classes } },
  };
}

function timesFrom(offset) {
  return { sum: 0n, exponential: { scale: 3, zeroCount: 0, offset, counts: new Float64Array(BUCKETS) } };
}

function grow(one) {
  for (let i = 0; i < TRANSFERS; i++) {
    const bucket = Math.floor(((Math.random() + Math.random() + Math.random()) / 3) * BUCKETS);
    one.duration.exponential.counts[bucket]++;
    one.post.exponential.counts[bucket]++;
  }
  one.count += TRANSFERS;
  one.bytes += BigInt(TRANSFERS * one.upToBytes);
}

async function bytesInUse() {
  for (let i = 0; i < 3; i++) {
    collect();
    await setImmediate(); // buffers are freed after their owners
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

export function caseOf({ agents }) {
  return `${agents} busy agents`;
}

export function columnsOf({ sampleMs, bytes, facts }) {
  return {
    'sample, ms': round(sampleMs, 1),
    'a second, ms': round((sampleMs * 1000) / SAMPLE_MS, 2),
    'memory, MB': round(bytes / 1e6, 1),
    'found slow': facts,
  };
}
