/** A real Prometheus scrapes a real serve without state files, and its answers equal the totals of the agents. */
import { expect, it } from 'vitest';
import { type RunningCommand, scrape, start, temporaryDirectory, valueOf } from '../cli/command.js';
import { freePort } from '../support/free-port.js';
import { allDrained } from '../support/live.js';
import { PATIENTLY, startPrometheus } from './backends.js';
import { Agents, ofCumulative, storedIn, TRANSFERS } from './transfers.js';

async function startServe(directory: string, port: number): Promise<RunningCommand> {
  const serve = start(['serve', '--dir', directory, '--port', String(port), '--state', 'off']);
  await serve.says(/serves http/);
  return serve;
}

it('answers to the unit, through restarts of serve, of Prometheus and of agents', async () => {
  const directory = temporaryDirectory();
  const port = await freePort();
  const page = `http://127.0.0.1:${port}/metrics`;
  const counted = async (agent: string) => valueOf(await scrape(page), TRANSFERS, `"${agent}"`);
  const stored = (agent: string) => `last_over_time(${TRANSFERS}{agent_name="${agent}"}[1h])`;
  const agents = new Agents(directory);
  let serve = await startServe(directory, port);
  const prometheus = await startPrometheus(`127.0.0.1:${port}`);
  const steady = await agents.start('--name', 'steady', '--exact-name');

  await agents.run('--name', 'early', '--exact-name', '--wire-version', '2');
  await prometheus.answers(stored('early'), agents.transfersOf('early'));

  // serve is killed, and would lose all counts since the last scrape: the agent pauses.
  await steady.pause();
  await allDrained(directory);
  const last = await counted('steady');
  expect(last).toBeGreaterThan(0);
  await prometheus.answers(stored('steady'), last);
  await serve.stop('SIGKILL');
  await agents.run('--name', 'meanwhile', '--exact-name');
  serve = await startServe(directory, port);
  await prometheus.answers(stored('steady'), 0);
  steady.child.kill('SIGCONT');

  // Prometheus is killed, and misses the work of the agents meanwhile.
  await prometheus.server.stop('SIGKILL');
  for (let life = 1; life <= 2; life++) {
    await agents.run('--name', 'again', '--exact-name');
    // A restart in the same file wipes unread events.
    await expect.poll(() => counted('again'), PATIENTLY).toBe(agents.transfersOf('again'));
  }
  await prometheus.server.startAgain();

  await agents.finish(steady);
  await expect.poll(() => storedIn(prometheus, ofCumulative), PATIENTLY).toEqual(agents.written);
  expect(await prometheus.number(`resets(${TRANSFERS}{agent_name="steady"}[1h])`)).toBe(1);
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
});
