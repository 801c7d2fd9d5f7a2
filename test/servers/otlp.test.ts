/** A real backend accepts OTLP from a real serve, and its answers equal the totals of the agents. */
import { expect, it } from 'vitest';
import { scrape, start, temporaryDirectory, valueOf } from '../cli/command.js';
import { PATIENTLY, startVictoriaMetrics } from './backends.js';
import { Agents, ofCumulative, ofDeltas, storedIn, TRANSFERS } from './transfers.js';

async function startServe(directory: string, endpoint: string, temporality: string) {
  const flags = ['--exporter', 'otlp,prometheus', '--port', '0', '--export-interval', '300'];
  const serve = start(['serve', '--dir', directory, ...flags], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: temporality,
  });
  const [, page] = await serve.says(/serves (http:\S+)/);
  return { serve, counted: async (agent: string) => valueOf(await scrape(page!), TRANSFERS, `"${agent}"`) };
}

it.each([
  ['cumulative', ofCumulative],
  ['delta', ofDeltas],
])('%s sums come out to the unit, through restarts of serve, of the backend and of agents', async (name, total) => {
  const directory = temporaryDirectory();
  const backend = await startVictoriaMetrics();
  const agents = new Agents(directory);
  let { serve, counted } = await startServe(directory, backend.pushTo, name);
  const steady = await agents.start('--name', 'steady', '--exact-name');
  const last = (agent: string) => `last_over_time(${TRANSFERS}{agent_name="${agent}"}[1h])`;
  const stored = async (agent: string) => (await storedIn(backend, total))[`${agent} ${TRANSFERS}`];

  await agents.run('--name', 'early', '--exact-name', '--wire-version', '2');

  // serve pushes its last values when it ends. The agent pauses until the next serve has pushed its 0: a backend that
  // compares values recognises a new start only by a smaller one.
  await expect.poll(() => counted('steady'), PATIENTLY).toBeGreaterThan(100);
  steady.child.kill('SIGSTOP');
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  await agents.run('--name', 'meanwhile', '--exact-name');
  ({ serve, counted } = await startServe(directory, backend.pushTo, name));
  await backend.answers(last('steady'), 0);

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
});
