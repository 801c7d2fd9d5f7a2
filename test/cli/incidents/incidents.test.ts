/** incidents, of real serves. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import type { Incident } from '../../../src/view/incidents/incident.js';
import { pushAll } from '../../support/rings.js';
import { start, temporaryDirectory } from '../command.js';
import { runHere } from '../in-process.js';

/** An event of an agent's failed operation: remote_disconnect. */
const ERROR = { type: 17, value: 1n };

function ring(directory: string, name: string): RingWriter {
  const writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 64 });
  onTestFinished(() => writer.close());
  return writer;
}

async function served(directory: string, ...flags: readonly string[]) {
  const serve = start(['serve', '--dir', directory, '--port', '0', ...flags]);
  const [, url] = await serve.says(/serves (http:\/\/[^/]+)\/metrics/);
  return { serve, url: url! };
}

/** Asks until there are so many. An agent that still fails each time makes that certain. */
async function incidents(url: string, count: number, meanwhile = (): void => {}): Promise<Incident[]> {
  let found: Incident[] = [];
  await expect
    .poll(async () => {
      meanwhile();
      const { stdout, stderr } = await runHere(['incidents', '--url', url, '--json']);
      expect(stderr).toBe('');
      found = stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Incident);
      return found.length;
    })
    .toBe(count);
  return found;
}

it('tells what a serve found, in its log as well, and what an earlier one found', async () => {
  const directory = temporaryDirectory();
  const writer = ring(directory, 'tp0');
  const fail = (): void => pushAll(writer, [ERROR]);
  const { serve, url } = await served(directory);
  fail();
  const [incident] = await incidents(url, 1, fail);
  expect(incident).toMatchObject({ kind: 'failing', level: 'alarm', agents: ['tp0'], agentCount: 1 });
  expect(incident!.beginMs).toBeLessThanOrEqual(incident!.saidMs);
  await serve.says(/warning: Transfers fail: tp0: /);
  const { stdout } = await runHere(['incidents', '--url', url]);
  expect(stdout).toMatch(/^ +WHEN +FOR +KIND +AGENTS +WORST +WHAT\n! +since \d\d:\d\d:\d\d +\d+ m?s.* failing +tp0 /);
  await serve.stop();

  const next = await served(directory);
  const [kept] = await incidents(next.url, 1);
  expect(kept).toMatchObject({ kind: 'failing', agents: ['tp0'], beginMs: incident!.beginMs });
});

it('keeps nothing with --state off, and names the host of each', async () => {
  const [one, other] = [temporaryDirectory(), temporaryDirectory()];
  const writers = [ring(one, 'a'), ring(other, 'b')];
  const fail = (): void => writers.forEach((writer) => pushAll(writer, [ERROR]));
  const served1 = await served(one, '--state', 'off');
  const served2 = await served(other);
  fail();
  await Promise.all([served1, served2].map(({ url }) => incidents(url, 1, fail)));
  const { stdout } = await runHere(['incidents', '--json', '--url', served1.url, '--url', served2.url]);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Incident & { host: string });
  expect(rows.map(({ agents, host }) => [agents[0], host]).sort()).toEqual([
    ['a', new URL(served1.url).host],
    ['b', new URL(served2.url).host],
  ]);
  await served1.serve.stop();
  const { url } = await served(one, '--state', 'off');
  expect(await incidents(url, 0)).toEqual([]);
  expect((await runHere(['incidents', '--url', url])).stdout).toBe('no incidents in the last day\n');
});

it('says why there is no answer', async () => {
  const directory = temporaryDirectory();
  ring(directory, 'a');
  const { url } = await served(directory, '--page', 'off');
  const { stderr, code } = await runHere(['incidents', '--url', url]);
  expect([code, stderr]).toEqual([1, expect.stringContaining('serve is older than this command, or has --page off')]);
  const server = createServer((_, answer) => void answer.end('{}')).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await expect.poll(() => server.listening).toBe(true);
  const other = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect((await runHere(['incidents', '--url', other])).stderr).toContain('the answer is not that of serve');
});
