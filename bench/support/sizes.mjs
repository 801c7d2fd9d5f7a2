/** Sizes of an export: measured for 1 and for 64 agents, as the share of one agent and that of a host without agents. */
import { inDirectory, stagesOf } from './measure.mjs';
import { Probed } from './probed.mjs';
import { PROTOBUF, protobufSeries, scrape } from './scrape.mjs';
import { writersIn } from './transfers.mjs';

const FEW = 1;
export const MANY = 64;
const SIZES = [
  'series',
  'buckets',
  'pageBytes',
  'pageGzipBytes',
  'protobufBytes',
  'protobufGzipBytes',
  'nativeSeries',
  'nativePageBytes',
  'nativePageGzipBytes',
];

/** `series`: preset. `prepare`: called with the writer of each agent. */
export async function measuredSizes(series, prepare = () => {}) {
  const [few, many] = [await sizesOf(FEW, series, prepare), await sizesOf(MANY, series, prepare)];
  const agent = sizes((size) => (many[size] - few[size]) / (MANY - FEW));
  const host = sizes((size) => few[size] - FEW * agent[size]);
  return { agent, host, many };
}

export function sizes(valueOf) {
  return Object.fromEntries(SIZES.map((size) => [size, valueOf(size)]));
}

async function sizesOf(agents, series, prepare) {
  const inRings = (measure) =>
    inDirectory(async (directory) => {
      const writers = writersIn(directory, agents);
      for (const writer of writers) prepare(writer);
      const found = await measure(directory);
      for (const writer of writers) writer.close();
      return found;
    });
  return {
    ...(await inRings((directory) => stagesOf(directory, agents, 1, series))),
    ...(await inRings((directory) => nativeSizesOf(directory, agents, series))),
  };
}

/** Returns the sizes of the exposition as protobuf, whose histograms are native ones: one series each. */
async function nativeSizesOf(directory, agents, series) {
  const serve = await Probed.serve(directory, ['--series', series]);
  try {
    while ((await scrape(serve.url)).agents < agents);
    const { page, packedBytes } = await scrape(serve.url, PROTOBUF);
    return { nativeSeries: protobufSeries(page), nativePageBytes: page.length, nativePageGzipBytes: packedBytes };
  } finally {
    await serve.stop();
  }
}
