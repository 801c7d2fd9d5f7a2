/** A scrape of serve as text and as protobuf, in turns; and the share of an agent in it: 64 agents less 1, divided by 63. */
import { inDirectory, plural, quantile, round } from './support/measure.mjs';
import { Probed } from './support/probed.mjs';
import { PROTOBUF, protobufSeries, scrape, TEXT } from './support/scrape.mjs';
import { writersIn } from './support/transfers.mjs';

export const title = 'a scrape of serve in both formats, milliseconds and kB';

const FEW = 1;
const MANY = 64;
const FORMATS = { text: TEXT, protobuf: PROTOBUF };

export async function run({ quick }) {
  const rows = [];
  for (const agents of [FEW, ...(quick ? [] : [8]), MANY]) {
    rows.push(...(await inDirectory((directory) => measure(agents, directory, quick))));
  }
  return rows.map((row) => ({ ...row, share: shareOf(rows.filter(({ format }) => format === row.format)) }));
}

/** Share of an agent, from the rows of a format. */
function shareOf(rows) {
  const [few, many] = [FEW, MANY].map((count) => rows.find(({ agents }) => agents === count));
  const share = (size) => (many[size] - few[size]) / (MANY - FEW);
  return { series: share('series'), bytes: share('bytes'), packedBytes: share('packedBytes') };
}

async function measure(agents, directory, quick) {
  const writers = writersIn(directory, agents);
  const serve = await Probed.serve(directory);
  try {
    while ((await scrape(serve.url)).agents < agents);
    const scrapes = quick ? 5 : Math.max(50, Math.round(1_600 / agents));
    const found = { text: [], protobuf: [] };
    // The first quarter warms up.
    for (let i = -scrapes / 4; i < scrapes; i++) {
      for (const [format, accept] of Object.entries(FORMATS)) {
        await serve.ask('begin');
        const { ms, page, packedBytes } = await scrape(serve.url, accept);
        const { activeMs, longestMs } = await serve.ask('end');
        if (i >= 0) found[format].push({ ms, page, packedBytes, activeMs, longestMs });
      }
    }
    const text = costsOf(found.text, textSeries);
    const protobuf = costsOf(found.protobuf, protobufSeries);
    return [
      { agents, format: 'text', ...text, text },
      { agents, format: 'protobuf', ...protobuf, text },
    ];
  } finally {
    await serve.stop();
    for (const writer of writers) writer.close();
  }
}

function costsOf(scrapes, seriesOf) {
  const { page, packedBytes } = scrapes.at(-1);
  const median = (key) => quantile(scrapes.map((scrape) => scrape[key]));
  const times = { ms: median('ms'), activeMs: median('activeMs'), longestMs: median('longestMs') };
  return { series: seriesOf(page), ...times, bytes: page.length, packedBytes };
}

function textSeries(page) {
  return page
    .toString()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#')).length;
}

export function caseOf({ agents, format }) {
  return `${plural(agents, 'agent')}, ${format}`;
}

export function columnsOf({ series, ms, activeMs, longestMs, bytes, packedBytes, text, share }) {
  return {
    series,
    'scrape p50': round(ms, 1),
    'event loop': round(activeMs, 1),
    longest: round(longestMs, 1),
    'page, kB': round(bytes / 1000, 0),
    'page gzip, kB': round(packedBytes / 1000, 1),
    'series, times text': round(series / text.series),
    'scrape, times text': round(ms / text.ms),
    'page, times text': round(bytes / text.bytes),
    'gzip, times text': round(packedBytes / text.packedBytes),
    'series of an agent': round(share.series, 0),
    'kB of an agent': round(share.bytes / 1000, 1),
    'gzip kB of an agent': round(share.packedBytes / 1000),
  };
}
