/** A real Prometheus scrapes a serve that is killed with -9: its counters go on, and miss nothing. */
import { expect, it } from 'vitest';
import { type RunningCommand, scrape, start, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { type Backend, NATIVE_HISTOGRAMS, PATIENTLY, startPrometheus, START_TIMES } from './backends.js';
import { freePort } from '../support/free-port.js';
import { Agents, storedIn, type Sums, TRANSFERS } from './transfers.js';

const KILLS = 6;
const NEWEST = (values: readonly number[]) => values.at(-1)!;

/** Agents that work while serve is killed: their rings keep the events of some seconds. */
const AT_WORK = ['--agents', '3', '--rate', '200', '--buffer-size', '65536'];

async function startServe(directory: string, port: number): Promise<RunningCommand> {
  const serve = start(['serve', '--dir', directory, '--port', String(port), '--dead-ttl', '3600000']);
  await serve.says(/serves http/);
  return serve;
}

/** Returns the series with a sample that is smaller than the one before it. */
async function decreasing(prometheus: Backend): Promise<unknown[]> {
  const series = await prometheus.query('{__name__=~"agent_.*(_total|_count|_sum|_bucket)"}[1h]');
  expect(series.length).toBeGreaterThan(50);
  return series.filter(({ values }) => values.some((value, i) => i > 0 && value < values[i - 1]!));
}

it.each([
  ['text', []],
  ['protobuf, with start times and native histograms', [START_TIMES, NATIVE_HISTOGRAMS]],
])(`last minus first sample is what agents wrote over ${KILLS} kills, in %s`, async (_, features) => {
  const directory = temporaryDirectory();
  const port = await freePort();
  const page = `http://127.0.0.1:${port}/metrics`;
  let serve = await startServe(directory, port);
  const prometheus = await startPrometheus(`127.0.0.1:${port}`, features, { always_scrape_classic_histograms: true });

  const before = new Agents(directory);
  await before.run(...AT_WORK);
  await expect.poll(() => storedIn(prometheus, NEWEST), PATIENTLY).toEqual(before.written);

  const meanwhile = new Agents(directory);
  // They come back under their names. Their rings are empty.
  const agents = await meanwhile.start(...AT_WORK);
  let transfers = valueOf(await scrape(page), TRANSFERS);
  for (let kill = 0; kill < KILLS; kill++) {
    await until(async () => valueOf(await scrape(page), TRANSFERS) >= transfers + 50);
    transfers = valueOf(await scrape(page), TRANSFERS);
    await serve.stop('SIGKILL');
    serve = await startServe(directory, port);
  }
  await meanwhile.finish(agents);

  const gained = async (): Promise<Sums> => {
    const now = await storedIn(prometheus, NEWEST);
    return Object.fromEntries(
      Object.entries(now)
        .map(([series, value]) => [series, value - (before.written[series] ?? 0)] as const)
        .filter(([, gain]) => gain !== 0),
    );
  };
  await expect.poll(gained, PATIENTLY).toEqual(meanwhile.written);
  expect(await decreasing(prometheus)).toEqual([]);
  expect(await prometheus.number(`max(resets(${TRANSFERS}[1h]))`)).toBe(0);
  // An injected zero would be a reset: the start times have not changed either.
  expect(await prometheus.number('max(resets(agent_tx_bytes_total[1h]))')).toBe(0);
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
});
