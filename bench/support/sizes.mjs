/** Sizes of an export: measured for 1 and for 64 agents, as the share of one agent and that of a host without agents. */
import { inDirectory, stagesOf } from './measure.mjs';
import { writersIn } from './transfers.mjs';

const FEW = 1;
export const MANY = 64;
const SIZES = ['series', 'buckets', 'pageBytes', 'pageGzipBytes', 'protobufBytes', 'protobufGzipBytes'];

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

function sizesOf(agents, series, prepare) {
  return inDirectory((directory) => {
    const writers = writersIn(directory, agents);
    for (const writer of writers) prepare(writer);
    const found = stagesOf(directory, agents, 1, series);
    for (const writer of writers) writer.close();
    return found;
  });
}
