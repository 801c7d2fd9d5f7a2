/** A scrape of serve like that of Prometheus, its stages, and the same export over OTLP. */
import { inDirectory, quantile, round, stagesOf } from './support/measure.mjs';
import { Probed } from './support/probed.mjs';
import { scrape } from './support/scrape.mjs';
import { pushTransfers, writersIn } from './support/transfers.mjs';

export const title = 'a scrape of serve, milliseconds; busy: four scrapers without pauses';

const SCRAPERS = 4;

export async function run({ quick }) {
  const rows = [];
  for (const agents of quick ? [8] : [1, 8, 64, 512]) {
    rows.push(await inDirectory((directory) => measure(agents, directory, quick)));
  }
  return rows;
}

async function measure(agents, directory, quick) {
  const writers = writersIn(directory, agents);
  // Takes about as long for each number of agents.
  const scrapes = quick ? 5 : Math.max(20, Math.min(400, Math.round(6_400 / agents)));
  const stages = stagesOf(directory, agents, quick ? 5 : Math.min(100, scrapes));
  // Refills the rings, which were drained above: serve finds as many events.
  for (const writer of writers) pushTransfers(writer, 400);
  const serve = await Probed.serve(directory);
  try {
    const served = await scrapesOf(serve, agents, scrapes);
    return { agents, ...served, ...stages };
  } finally {
    await serve.stop();
    for (const writer of writers) writer.close();
  }
}

async function scrapesOf(serve, agents, scrapes) {
  while ((await scrape(serve.url)).agents < agents);
  for (let i = 0; i < Math.min(20, scrapes); i++) await scrape(serve.url); // warms up
  const alone = { ms: [], activeMs: [], longestMs: [] };
  let last;
  for (let i = 0; i < scrapes; i++) {
    await serve.ask('begin');
    last = await scrape(serve.url);
    const { activeMs, longestMs } = await serve.ask('end');
    alone.ms.push(last.ms);
    alone.activeMs.push(activeMs);
    alone.longestMs.push(longestMs);
  }
  const busy = [];
  const scraper = async () => {
    for (let i = 0; i < scrapes / SCRAPERS; i++) busy.push((await scrape(serve.url)).ms);
  };
  await Promise.all(Array.from({ length: SCRAPERS }, scraper));
  return {
    p50Ms: quantile(alone.ms),
    p99Ms: quantile(alone.ms, 0.99),
    activeMs: quantile(alone.activeMs),
    longestMs: quantile(alone.longestMs),
    busyP50Ms: quantile(busy),
    busyP99Ms: quantile(busy, 0.99),
    bytes: last.bytes,
    packedBytes: last.packedBytes,
  };
}

export function caseOf({ agents }) {
  return `${agents} agents`;
}

export function columnsOf(row) {
  const kB = (bytes) => round(bytes / 1000, 0);
  return {
    series: row.series,
    'scrape p50': round(row.p50Ms, 1),
    p99: round(row.p99Ms, 1),
    'busy p50': round(row.busyP50Ms, 1),
    'busy p99': round(row.busyP99Ms, 1),
    'event loop': round(row.activeMs, 1),
    longest: round(row.longestMs, 1),
    snapshot: round(row.snapshotMs),
    collect: round(row.collectMs),
    page: round(row.pageMs),
    'OTLP JSON': round(row.jsonMs),
    'OTLP protobuf': round(row.protobufMs),
    'page, kB': kB(row.pageBytes),
    'page gzip, kB': kB(row.pageGzipBytes),
    'JSON, kB': kB(row.jsonBytes),
    'protobuf, kB': kB(row.protobufBytes),
  };
}
