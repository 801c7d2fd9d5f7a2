/** A real serve pushes to a backend, and the sums that arrive equal the totals of the agents. */
import { expect } from 'vitest';
import { scrape, start, temporaryDirectory, valueOf } from '../cli/command.js';
import { allDrained } from '../support/live.js';
import { type OtlpBackend, PATIENTLY } from './backends.js';
import { Agents, ofCumulative, ofDeltas, storedIn, type Total, TRANSFERS } from './transfers.js';

/** Temporalities, and how the total of a series follows from its samples. */
export const TEMPORALITIES: [temporality: string, total: Total][] = [
  ['cumulative', ofCumulative],
  ['delta', ofDeltas],
];

async function startServe(directory: string, endpoint: string, temporality: string) {
  const flags = ['--exporter', 'otlp,prometheus', '--port', '0', '--export-interval', '300'];
  const serve = start(['serve', '--dir', directory, ...flags], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: temporality,
  });
  const [, page] = await serve.says(/serves (http:\S+)/);
  return { serve, counted: async (agent: string) => valueOf(await scrape(page!), TRANSFERS, `"${agent}"`) };
}

/** Restarts serve, the backend and agents meanwhile. */
export async function expectExactSums(backend: OtlpBackend, temporality: string, total: Total): Promise<void> {
  const directory = temporaryDirectory();
  const agents = new Agents(directory);
  let { serve, counted } = await startServe(directory, backend.pushTo, temporality);
  const steady = await agents.start('--name', 'steady', '--exact-name');
  const stored = async (agent: string) => (await storedIn(backend, total))[`${agent} ${TRANSFERS}`];

  await agents.run('--name', 'early', '--exact-name', '--wire-version', '2');

  // serve pushes its last values when it ends. The agent pauses: the first delta of the next serve begins at the recovered
  // sums, which have the events that the first one drained after its last push.
  await expect.poll(() => counted('steady'), PATIENTLY).toBeGreaterThan(100);
  await steady.pause();
  await allDrained(directory);
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  await agents.run('--name', 'meanwhile', '--exact-name');
  ({ serve, counted } = await startServe(directory, backend.pushTo, temporality));

  // The backend restarts meanwhile. A delta without a receiver is lost: all counted events must have arrived before.
  await expect.poll(() => stored('meanwhile'), PATIENTLY).toBe(agents.transfersOf('meanwhile'));
  await backend.server.stop('SIGTERM');
  await serve.says(/exporter otlp failed/);
  await backend.server.startAgain();
  await serve.says(/exporter otlp works again/);
  steady.child.kill('SIGCONT');
  for (let life = 1; life <= 2; life++) {
    await agents.run('--name', 'again', '--exact-name');
    await expect.poll(() => counted('again'), PATIENTLY).toBe(agents.transfersOf('again'));
  }

  await agents.finish(steady);
  await expect.poll(() => storedIn(backend, total), PATIENTLY).toEqual(agents.written);
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
}
