/** Costs of the package in a service between two collections, beside an empty Node process under the same agents. */
import { Bursts, FULL_RATE, IDLE, NIXL_DEFAULT } from './support/bursts.mjs';
import { inDirectory, plural, quantile, round } from './support/measure.mjs';
import { Probed } from './support/probed.mjs';
import { scrape } from './support/scrape.mjs';

export const title =
  'shares of one core and event-loop delays of an otherwise idle service; default: 41,000 events/s and agent; full: 2.5 million';

const RATES = { idle: IDLE, default: NIXL_DEFAULT, full: FULL_RATE };
const KINDS = ['empty', 'instrumentation', 'serve'];

export async function run({ quick }) {
  const loads = quick
    ? [[1, 'default']]
    : [[0, 'idle'], ...[1, 64].flatMap((agents) => Object.keys(RATES).map((rate) => [agents, rate]))];
  const windows = quick ? { count: 1, ms: 200 } : { count: 3, ms: 600 };
  const rows = [];
  for (const [agents, rate] of loads) {
    for (const kind of KINDS) {
      rows.push(await inDirectory((directory) => costs(directory, { agents, rate, kind }, windows)));
    }
  }
  return rows;
}

async function costs(directory, { agents, rate, kind }, windows) {
  const load = agents === 0 ? undefined : await Bursts.start(directory, agents, RATES[rate]);
  const process = await started(kind, directory, agents);
  try {
    load?.begin();
    const figures = {};
    for (let i = 0; i <= windows.count; i++) {
      const window = { ms: windows.ms };
      const found = { ...(await process.ask('cpu', window)), ...(await process.ask('delay', window)) };
      if (i === 0) continue; // warms up
      for (const [name, value] of Object.entries(found)) (figures[name] ??= []).push(value);
    }
    const { rssMiB } = await process.ask('rss');
    const medians = Object.entries(figures).map(([name, values]) => [name, quantile(values)]);
    return { agents, rate, kind, ...Object.fromEntries(medians), rssMiB };
  } finally {
    await process.stop();
    await load?.stop();
  }
}

async function started(kind, directory, agents) {
  if (kind !== 'serve') return Probed.service(kind, directory, agents);
  const serve = await Probed.serve(directory);
  while ((await scrape(serve.url)).agents < agents);
  return serve;
}

export function caseOf({ agents, rate, kind }) {
  return `${plural(agents, 'agent')}${agents === 0 ? '' : `, ${rate}`}: ${kind}`;
}

export function columnsOf({ mainCpu, cpu, delayP50Ms, delayP99Ms, rssMiB }) {
  return {
    'main thread, %': round(mainCpu),
    'process, %': round(cpu),
    'delay p50, ms': round(delayP50Ms),
    'delay p99, ms': round(delayP99Ms),
    'RSS, MiB': round(rssMiB, 0),
  };
}
