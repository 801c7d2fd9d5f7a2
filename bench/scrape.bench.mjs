/** A scrape of serve over a kept connection, beside an answer of the same bytes that is only sent; and its stages. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inDirectory, plural, quantile, round, sleep, stagesOf } from './support/measure.mjs';
import { Probed } from './support/probed.mjs';
import { PROTOBUF, scrape, timedScrape } from './support/scrape.mjs';
import { moveAll, pushTransfers, writersIn } from './support/transfers.mjs';

export const title =
  'a scrape of serve, milliseconds; every series moves before each; constant: the same bytes, only sent';

const CONSTANT = fileURLToPath(new URL('support/constant.mjs', import.meta.url));
const MANY = 64;
/** Until the collector has drained what was written: a scrape then drains little. */
const SETTLE_MS = 45;

export async function run({ quick }) {
  const cases = [1, 8, MANY, 512].map((agents) => ({ agents, preset: 'standard' }));
  cases.splice(3, 0, { agents: MANY, preset: 'nixl' });
  const rows = [];
  for (const { agents, preset } of quick ? [{ agents: 8, preset: 'nixl' }] : cases) {
    rows.push(await inDirectory((directory) => measure(agents, preset, directory, quick)));
  }
  const many = rows.find(({ agents, preset }) => agents === MANY && preset === 'standard');
  return rows.map((row) => ({ ...row, timesMany: row.text.p50Ms / (many ?? row).text.p50Ms }));
}

async function measure(agents, preset, directory, quick) {
  const writers = writersIn(directory, agents);
  const rounds = quick ? 5 : 100;
  const stages = stagesOf(directory, agents, quick ? 5 : 50, preset);
  // Refills the rings, which were drained above: serve finds as many events.
  for (const writer of writers) pushTransfers(writer, 400);
  const serve = await Probed.serve(directory, ['--series', preset]);
  const move = async () => {
    writers.forEach(moveAll);
    await sleep(SETTLE_MS);
  };
  try {
    while ((await scrape(serve.url)).agents < agents);
    const scrapes = await scrapesOf(serve.url, rounds, move);
    const holds = await holdsOf(serve, rounds / 2, move);
    return { agents, preset, ...stages, ...scrapes, ...holds };
  } finally {
    await serve.stop();
    for (const writer of writers) writer.close();
  }
}

/** Scrapes in turns, each after all series have moved. The first quarter warms up. */
async function scrapesOf(url, rounds, move) {
  const constant = fork(CONSTANT, [url]);
  try {
    const { url: constantUrl } = await new Promise((resolve) => constant.once('message', resolve));
    const kinds = {
      text: () => timedScrape(url),
      constant: () => timedScrape(constantUrl),
      gzip: () => timedScrape(url, { encoding: 'gzip' }),
      protobuf: () => timedScrape(url, { accept: PROTOBUF }),
    };
    const found = { text: [], constant: [], gzip: [], protobuf: [] };
    for (let round = -rounds / 4; round < rounds; round++) {
      for (const [kind, one] of Object.entries(kinds)) {
        if (kind !== 'constant') await move();
        const made = await one();
        if (round >= 0) found[kind].push(made);
      }
    }
    const summary = (all) => {
      const ms = all.map((one) => one.ms);
      return { p50Ms: quantile(ms), p99Ms: quantile(ms, 0.99), bytes: all.at(-1).bytes };
    };
    return Object.fromEntries(Object.entries(found).map(([kind, all]) => [kind, summary(all)]));
  } finally {
    constant.kill();
  }
}

/** Time that a scrape holds the event loop: in all, and without interruption. */
async function holdsOf(serve, rounds, move) {
  const holds = [];
  for (let round = 0; round < rounds; round++) {
    await move();
    await serve.ask('begin');
    await timedScrape(serve.url);
    holds.push(await serve.ask('end'));
  }
  const longest = holds.map(({ longestMs }) => longestMs);
  return {
    activeMs: quantile(holds.map(({ activeMs }) => activeMs)),
    longestMs: quantile(longest),
    longestP95Ms: quantile(longest, 0.95),
  };
}

export function caseOf({ agents, preset }) {
  return `${plural(agents, 'agent')}, --series ${preset}`;
}

export function columnsOf({ text, constant, gzip, protobuf, ...row }) {
  const kB = (bytes) => round(bytes / 1000, 0);
  return {
    series: row.series,
    constant: round(constant.p50Ms),
    'scrape p50': round(text.p50Ms),
    p99: round(text.p99Ms, 1),
    'times constant': round(text.p50Ms / constant.p50Ms, 1),
    [`times ${MANY} agents`]: round(row.timesMany),
    'gzip, times plain': round(gzip.p50Ms / text.p50Ms),
    'protobuf, times text': round(protobuf.p50Ms / text.p50Ms),
    'event loop': round(row.activeMs, 1),
    longest: round(row.longestMs, 1),
    'longest p95': round(row.longestP95Ms, 1),
    snapshot: round(row.snapshotMs),
    collect: round(row.collectMs),
    page: round(row.pageMs),
    'page, kB': kB(text.bytes),
    'gzip, kB': kB(gzip.bytes),
    'protobuf, kB': kB(protobuf.bytes),
    'kept, kB': kB(row.keptBytes),
  };
}
