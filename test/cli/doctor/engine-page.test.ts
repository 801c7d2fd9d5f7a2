/** doctor beside an engine's own page of metrics: processes as those of vLLM, real rings, a real serve. */
import { symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { MovedSums } from '../../../src/engines/engine-page.js';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import { compiledProgram } from '../../support/preload.js';
import { freePort } from '../../support/free-port.js';
import { vllmPage } from '../../support/vllm-page.js';
import { RunningCommand, start, temporaryDirectory, until } from '../command.js';
import { runHere } from '../in-process.js';
import { diagnose } from './doctor.js';

const engine = compiledProgram('engine.c');
const UUIDS = ['0b7a1f3e-5c1d-4f7a-9a43-2f0e6f1f9b11', '1b7a1f3e-5c1d-4f7a-9a43-2f0e6f1f9b11'] as const;
/** Types of the events that a transfer writes, which reads. */
const [RX_BYTES, RX_REQUESTS, TIME, POST_TIME] = [1, 3, 6, 7];
/** Of both ranks. */
const MOVED: MovedSums = { transfers: 6, bytes: 6 * 4096, transferUs: 6 * 700, postUs: 6 * 90 };

let directory = '';
beforeEach(() => {
  directory = temporaryDirectory();
});

/** Writes three transfers. */
function ring(name: string): string {
  const writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 4096 });
  for (let i = 0; i < 3; i++) {
    writer.push({ type: POST_TIME, value: 90 });
    writer.push({ type: TIME, value: 700 });
    writer.push({ type: RX_BYTES, value: 4096 });
    writer.push({ type: RX_REQUESTS, value: 1 });
  }
  writer.close();
  return writer.path;
}

/** Serves the page of an engine. @returns its port */
async function answering(page: () => string): Promise<number> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/metrics' ? 200 : 404).end(page());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Starts the processes of an instance of vLLM with two ranks, and a serve that has counted their transfers. @returns its address */
async function instance(port: number): Promise<string> {
  const program = path.join(temporaryDirectory(), 'vllm');
  symlinkSync(engine, program);
  const config = JSON.stringify({ kv_connector: 'NixlConnector', kv_role: 'kv_consumer' });
  const flags = ['serve', 'org/tiny', '--port', String(port), '--kv-transfer-config', config];
  const workers = UUIDS.map((uuid, rank) => [`VLLM::Worker_TP${rank}`, ring(uuid)].join('\t'));
  const vllm = new RunningCommand(program, flags, { WORKERS: workers.join('\n') });
  await until(() => vllm.stdout.split('ready').length === 3);
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  const [, url] = await serve.says(/serves (\S+)\/metrics/);
  const counted = async () => {
    const answer = await fetch(`${url}/api/v1/agents?detail=none`);
    const { agents } = (await answer.json()) as { agents: { rxRequests: number; engine?: { label?: string } }[] };
    return agents.filter((one) => one.rxRequests === 3 && one.engine?.label !== undefined).length === 2;
  };
  await until(counted);
  return url!;
}

it('finds the sums of vLLM and of the rings equal, by a serve and by its state files', async () => {
  const port = await answering(() => vllmPage(MOVED));
  const engineUrl = `http://127.0.0.1:${port}`;
  const serve = await instance(port);
  for (const rings of [
    ['--url', serve],
    ['--dir', directory],
  ]) {
    const { code, stdout, stderr } = await runHere(['doctor', '--engine', engineUrl, ...rings]);
    const name = rings[0] === '--url' ? new URL(serve).host : directory;
    expect(stdout.split('\n')).toEqual([
      `ok       ${engineUrl}/metrics: the page of vLLM beside 2 agents at ${name}: vllm :${port} decode TP0 and vllm :${port} decode TP1`,
      'ok       transfers: 6 in both',
      'ok       bytes: 24,576 B in both',
      'ok       sum of times: 4,200 µs in both',
      'ok       sum of post times: 540 µs in both',
      '',
    ]);
    expect([code, stderr]).toEqual([0, '']);
  }
});

it('says which sums differ, and why', async () => {
  let page = '';
  const port = await answering(() => page);
  const serve = await instance(port);
  const flags = ['--engine', `http://127.0.0.1:${port}/metrics`, '--url', serve];
  page = vllmPage({ ...MOVED, bytes: MOVED.bytes + 1 }).replace(/(kv_expired_reqs_total.*) 0.0/, '$1 2.0');
  const less = await diagnose(flags);
  expect(less.code).toBe(1);
  expect(less.findings.map(({ status, finding, subject }) => [status, finding, subject])).toEqual([
    ['ok', 'engine', `http://127.0.0.1:${port}/metrics`],
    ['ok', 'engine-equal', 'transfers'],
    ['problem', 'engine-differs', 'bytes'],
    ['ok', 'engine-equal', 'sum of times'],
    ['ok', 'engine-equal', 'sum of post times'],
    ['note', 'engine-failures', `http://127.0.0.1:${port}/metrics`],
  ]);
  const [, , bytes, , , failures] = less.findings;
  expect(bytes!.what).toMatch(/^vLLM has 24,577 B, the rings 24,576 B: the rings have 1 B less; serve began to count /);
  expect(failures!.what).toBe('vLLM counts requests whose KV cache expired before a peer had read it: 2');
  page = vllmPage({ ...MOVED, transferUs: MOVED.transferUs - 1 });
  const more = await diagnose(flags);
  expect(more.code).toBe(0);
  expect(more.findings.filter(({ status }) => status !== 'ok')).toMatchObject([
    {
      status: 'note',
      finding: 'engine-behind',
      subject: 'sum of times',
      what: expect.stringMatching(/have 1 µs more; vLLM publishes/) as string,
    },
  ]);
});

it.each([
  ['restarts', vllmPage({ transfers: 0, bytes: 0, transferUs: 0, postUs: 0 }), 'note', 'engine-restarted'],
  ['has no transfers any more', 'vllm:num_requests_running 0\n', 'problem', 'engine-uncounted'],
  ['is no page any more', '', 'problem', 'engine-no-page'],
])('says so where the engine %s between two looks', async (_, second, status, name) => {
  const pages = [vllmPage({ ...MOVED, bytes: MOVED.bytes + 1 }), second];
  const port = await answering(() => pages.shift() ?? second);
  const serve = await instance(port);
  const { findings } = await diagnose(['--engine', `http://127.0.0.1:${port}`, '--url', serve]);
  expect(findings.filter((one) => one.status !== 'ok')).toMatchObject([{ status, finding: name }]);
});

it('says why nothing can be compared', async () => {
  let page = vllmPage(MOVED);
  const port = await answering(() => page);
  const serve = await instance(await freePort());
  const found = async (url = `http://127.0.0.1:${port}`) => {
    const { code, findings } = await diagnose(['--engine', url, '--url', serve]);
    expect(code).toBe(1);
    return findings.map(({ finding, what }) => `${finding}: ${what}`).join('\n');
  };
  expect(await found()).toMatch(
    new RegExp(`^engine-unseen: no living agent of :${port} at .*; known there: vllm :\\d+ decode TP0`),
  );
  page = 'sglang:kv_transfer_total_mb_sum 1\n';
  expect(await found()).toMatch(/^engine-uncounted: the page of SGLang has speed, latency and size of the KV caches/);
  page = 'up 1\n';
  expect(await found()).toBe('engine-no-page: the page has no series of an engine that is known');
  expect(await found(`http://127.0.0.1:${await freePort()}`)).toMatch(/^engine-no-page: .*ECONNREFUSED/);
  // A host alone would be asked at the port of serve.
  for (const address of ['ftp://x', 'localhost', '[::1]/metrics']) {
    const refused = await runHere(['doctor', '--engine', address]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      `'--engine <url>' argument '${address}' is invalid. Allowed: host:port, unix:/path`,
    );
  }
  const both = await runHere(['doctor', '--engine', serve, '--pid', '1']);
  expect(both.stderr).toContain('--engine and --pid exclude each other');
});
