/** Samples of the history that serve keeps for its live page, and the answer with all of it. */
import { diag } from '@opentelemetry/api';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { agentColumns, fleetAnswer } from '../dist/serve/api/history.js';
import { Recorder, SAMPLE_MS } from '../dist/serve/history/recorder.js';
import { SourceFeed } from '../dist/instrumentation/feed/snapshot-feed.js';
import { openSource } from '../dist/shm-bridge/index.js';
import { producerSettings } from '../dist/settings/settings.js';
import { inDirectory, quantile, round, sleep } from './support/measure.mjs';
import { pushTransfers, writersIn } from './support/transfers.mjs';

export const title =
  'CPU of a sample of busy agents, taken every five seconds without a request; bytes of the answer with ten minutes';

/** Samples of ten minutes, so that all points exist, and some before them. */
const SAMPLES = 130;
/** Events of an agent between two samples. */
const EVENTS = 80;

export async function run({ quick }) {
  const rows = [];
  for (const agents of quick ? [8] : [64, 512])
    rows.push(await inDirectory((directory) => measure(directory, agents, quick)));
  return rows;
}

async function measure(directory, agents, quick) {
  const writers = writersIn(directory, agents);
  const { source: sourceOptions } = producerSettings({ directories: directory });
  const source = openSource(sourceOptions);
  const feed = new SourceFeed(source, diag);
  const parts = [];
  let sampleCount = 0;
  // As if the samples were five seconds apart.
  const atItsTime = (snapshot) => ({ ...snapshot, takenMs: snapshot.takenMs + sampleCount * SAMPLE_MS });
  const peek = (wants) => atItsTime(feed.peek(wants));
  const peekInSlices = async (slices, wants) => atItsTime(await feed.peekInSlices(slices, wants));
  const onFailure = (reason) => {
    throw new Error(reason);
  };
  const later = (work) => parts.push(work);
  const recorder = new Recorder({ peek, peekInSlices, customErrors: [], beganMs: 0, onFailure, later });
  recorder.close();
  try {
    while (source.snapshot().agents.filter(({ exported }) => exported).length < agents) await sleep(20);
    const times = [];
    const longest = [];
    for (; sampleCount < (quick ? 5 : SAMPLES); sampleCount++) {
      writers.forEach((writer, i) => pushTransfers(writer, EVENTS, sampleCount * agents + i + 1));
      source.drainNow();
      const turns = await timedTurns(() => recorder.take());
      while (parts.length > 0) turns.push(timed(parts.shift()));
      times.push(turns.reduce((sum, ms) => sum + ms, 0));
      longest.push(Math.max(...turns));
    }
    const [sampleMs, longestMs] = [times, longest].map((all) => quantile(all.slice(Math.floor(all.length / 4))));
    return { agents, sampleMs, longestMs, ...sizesOf(recorder) };
  } finally {
    feed.close();
    for (const writer of writers) writer.close();
  }
}

/** Milliseconds of CPU of the work in each turn of the event loop. */
async function timedTurns(work) {
  const turns = [];
  let isDone = false;
  let begun = process.cpuUsage();
  const done = work().then(() => (isDone = true));
  while (!isDone) {
    await setImmediate();
    const { user, system } = process.cpuUsage(begun);
    turns.push((user + system) / 1000);
    begun = process.cpuUsage();
  }
  await done;
  return turns;
}

/** Milliseconds of CPU of the process. The collector has no events to drain meanwhile. */
function timed(work) {
  const begun = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

/** Bytes of the answer with all agents. */
function sizesOf(recorder) {
  const { timesMs, rows } = recorder.record.agents.after(0);
  const fleet = fleetAnswer(recorder, { fromMs: 0, startedMs: 0, takenMs: 0 });
  const agents = [...rows].map(([id, row]) => agentColumns(id, row));
  const text = JSON.stringify({ ...fleet, agentTimesMs: timesMs, agents });
  return { bytes: text.length, gzipBytes: gzipSync(text, { level: 1 }).length };
}

export function caseOf({ agents }) {
  return `${agents} busy agents`;
}

export function columnsOf({ sampleMs, longestMs, bytes, gzipBytes }) {
  return {
    'sample, ms': round(sampleMs, 1),
    'longest, ms': round(longestMs, 1),
    'of one core, %': round((100 * sampleMs) / SAMPLE_MS, 2),
    'answer, kB': round(bytes / 1000, 0),
    'gzip, kB': round(gzipBytes / 1000, 0),
  };
}
