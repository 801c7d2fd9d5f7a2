/** Cost of `serve` while nothing happens, and beside it an empty Node process of the same run. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { Bursts, IDLE } from './support/bursts.mjs';
import { inDirectory, quantile, ROOT, round, sleep } from './support/measure.mjs';
import { Probed } from './support/probed.mjs';
import { scrape } from './support/scrape.mjs';

export const title =
  'shares of one core of serve in steady state: no event, no scrape; empty: a Node process without the package';

const CASES = [
  { agents: 0, parked: 0 },
  { agents: 64, parked: 0 },
  { agents: 0, parked: 1000 },
];

export async function run({ quick }) {
  const windows = quick ? { count: 1, warmUp: 0, ms: 200 } : { count: 5, warmUp: 1, ms: 8000 };
  const rows = [];
  for (const one of quick ? CASES.slice(0, 2) : CASES) {
    rows.push(await inDirectory((directory) => costs(directory, one, windows)));
  }
  return rows;
}

async function costs(directory, { agents, parked }, windows) {
  const load = agents === 0 ? undefined : await Bursts.start(directory, agents, IDLE);
  if (parked > 0) leaveRings(directory, parked);
  const empty = await Probed.service('empty', directory, 0);
  const serve = await Probed.serve(directory);
  try {
    while ((await scrape(serve.url)).agents < agents);
    if (parked > 0) await parkedAll(serve, parked);
    const figures = {};
    for (let i = -windows.warmUp; i < windows.count; i++) {
      const [found, { cpu: emptyCpu }] = await Promise.all([
        serve.ask('cpu', { ms: windows.ms }),
        empty.ask('cpu', { ms: windows.ms }),
      ]);
      if (i < 0) continue;
      for (const [name, value] of Object.entries({ ...found, emptyCpu })) (figures[name] ??= []).push(value);
    }
    const medians = Object.entries(figures).map(([name, values]) => [name, quantile(values)]);
    return { agents, parked, ...Object.fromEntries(medians) };
  } finally {
    await Promise.all([serve.stop(), empty.stop()]);
    await load?.stop();
  }
}

/** Makes the rings of agents that have ended. */
function leaveRings(directory, count) {
  const script = `
    import { RingWriter } from ${JSON.stringify(path.join(ROOT, 'dist/rings.js'))};
    for (let i = 0; i < ${count}; i++) new RingWriter(${JSON.stringify(directory)} + '/left-' + i, { capacity: 64 }).close();`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script]);
}

/** Waits until serve has opened the rings and released them, which takes ten seconds: a young ring may get events. */
async function parkedAll(serve, count) {
  const opened = async () => (await serve.ask('descriptors')).count;
  while ((await opened()) < count);
  while ((await opened()) > count / 10) await sleep(100);
}

export function caseOf({ agents, parked }) {
  if (parked > 0) return `${parked} parked rings`;
  return agents === 0 ? 'no agents' : `${agents} idle agents`;
}

export function columnsOf({ collectorCpu, wakeUps, mainCpu, cpu, emptyCpu }) {
  return {
    'collector thread, %': round(collectorCpu, 3),
    'its wake-ups/s': round(wakeUps, 1),
    'main thread, %': round(mainCpu, 3),
    'process, %': round(cpu, 3),
    'empty process, %': round(emptyCpu, 3),
    'process less empty, %': round(cpu - emptyCpu, 3),
  };
}
