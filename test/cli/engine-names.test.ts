/** Engines, ranks and roles of agents at /metrics, in JSON and in the list, of real process trees. */
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { samplesOf } from '../support/page.js';
import { compiledProgram } from '../support/preload.js';
import { run, RunningCommand, start, temporaryDirectory, until } from './command.js';

const engine = compiledProgram('engine.c');
let directory = '';
beforeEach(() => {
  directory = temporaryDirectory();
});

const UUIDS = ['0b7a1f3e-5c1d-4f7a-9a43-2f0e6f1f9b11', '1b7a1f3e-5c1d-4f7a-9a43-2f0e6f1f9b11'] as const;

function ring(name: string): string {
  const writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 4096 });
  writer.push({ type: 0, value: 1n });
  writer.close();
  return writer.path;
}

/** Starts an instance of an engine: its command, and below it the processes that rename themselves. */
async function instance(command: readonly string[], workers: readonly (readonly string[])[]): Promise<RunningCommand> {
  const [name = '', ...args] = command;
  const program = path.join(temporaryDirectory(), name);
  symlinkSync(engine, program);
  const started = new RunningCommand(program, args, { WORKERS: workers.map((one) => one.join('\t')).join('\n') });
  await until(() => started.stdout.split('ready').length - 1 === workers.flat().length / 2);
  return started;
}

const config = (role: string) => JSON.stringify({ kv_connector: 'NixlConnector', kv_role: role });

it('two ranks of one instance of vLLM, also after its end', async () => {
  const rings = UUIDS.map(ring);
  const vllm = await instance(
    ['vllm', 'serve', 'org/tiny', '--port', '8100', '--kv-transfer-config', config('kv_consumer')],
    rings.map((file, rank) => ['VLLM::EngineCore', '', `VLLM::Worker_TP${rank}`, file]),
  );
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  const [, url] = await serve.says(/serves (http:\S+)/);
  const infos = async () =>
    samplesOf(await (await fetch(url!)).text()).filter(({ name }) => name === 'nixl_agent_info');
  await until(async () => (await infos()).filter(({ labels }) => labels['engine'] === 'vllm').length === 2);
  const found = await infos();
  expect(found).toHaveLength(2);
  for (const [rank, uuid] of UUIDS.entries()) {
    const { labels, value } = found.find((one) => one.labels['agent_name'] === uuid)!;
    expect(value).toBe(1);
    expect(labels).toMatchObject({
      ...{ engine: 'vllm', part: 'connector', engine_instance: ':8100', model: 'org/tiny', role: 'decode' },
      ...{ tp_rank: String(rank), ranks: `TP${rank}`, display_name: `vllm :8100 decode TP${rank}` },
    });
    expect(Number(labels['pid'])).toBeGreaterThan(0);
  }
  const agents = async () => {
    const answer = (await (await fetch(new URL('api/v1/agents?detail=none', url))).json()) as {
      agents: { agent: string; life: string; engine: object }[];
    };
    return answer.agents.sort((a, b) => (a.agent < b.agent ? -1 : 1));
  };
  const [first] = await agents();
  expect(first!.engine).toEqual({
    ...{ engine: 'vllm', part: 'connector', instance: ':8100', model: 'org/tiny', role: 'decode', ranks: { tp: 0 } },
    ...{ title: 'VLLM::Worker_TP0', instancePid: vllm.child.pid, label: 'vllm :8100 decode TP0' },
  });

  const listed = await run(['list', '--dir', directory]);
  expect(listed.stdout).toMatch(/^AGENT +ENGINE /);
  expect(listed.stdout).toMatch(new RegExp(`^${UUIDS[1]} +vllm :8100 decode TP1 `, 'm'));
  const json = await run(['list', '--dir', directory, '--json', '--filter', UUIDS[1]]);
  expect((JSON.parse(json.stdout) as { engine: object }).engine).toEqual((await agents())[1]!.engine);

  const top = await run(['top', '--once', '--interval', '100', '--json', '--dir', directory]);
  const { agents: tops } = JSON.parse(top.stdout) as { agents: { agent: string; engine: object }[] };
  expect(tops.find(({ agent }) => agent === UUIDS[1])!.engine).toEqual((await agents())[1]!.engine);
  const lines = (await run(['top', '--once', '--interval', '100', '--dir', directory, '--filter', UUIDS[0]])).stdout;
  expect(lines).toMatch(/ vllm :8100 decode TP0 /);
  expect(lines).not.toContain('TP1');

  vllm.child.kill('SIGKILL');
  await until(async () => (await agents()).every(({ life }) => life === 'dead'));
  expect((await agents())[0]!.engine).toEqual(first!.engine);
  expect(await infos()).toHaveLength(2);
});

it('Dynamo and SGLang, and an agent without an engine', async () => {
  const files = ['a', 'b', 'c'].map(ring);
  await instance(
    ['python3', '-m', 'dynamo.vllm', '--model', 'org/tiny', '--disaggregation-mode', 'prefill'],
    [['VLLM::EngineCore_DP1', '', 'VLLM::Worker_DP1', files[0]!]],
  );
  await instance(
    ['python3', '-m', 'sglang.launch_server', '--port=30000', '--disaggregation-mode', 'decode'],
    [['sglang::scheduler_DP0_TP3_EP3', files[1]!]],
  );
  const other = new RunningCommand(engine, ['', files[2]!]);
  await other.says(/ready/);
  const { stdout } = await run(['list', '--dir', directory, '--json']);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { engine: Record<string, unknown> });
  expect(lines.map((line) => line.engine['label'])).toEqual([
    'dynamo tiny prefill DP1',
    'sglang :30000 decode DP0 TP3 EP3',
    undefined,
  ]);
  expect(lines[2]!.engine['unknown']).toMatch(/^no engine is known by the command /);
});

it('an engine that the configuration adds', async () => {
  const file = ring('m-7');
  const other = await instance(['mover', '--side', 'left'], [['', file]]);
  const config = path.join(directory, 'nixl-otel.yaml');
  writeFileSync(
    config,
    "engines: [{ engine: mover, command: '^.*/mover --side (?<role>\\w+)', agent: '^m-(?<tp>\\d+)$' }]\n",
  );
  const serve = start(['serve', '--config', config, '--dir', directory, '--port', '0']);
  const [, url] = await serve.says(/serves (http:\S+)/);
  const row = `display_name="mover pid ${other.child.pid} left TP7"`;
  await until(async () => (await (await fetch(url!)).text()).includes(row));
});
