import { describe, expect, it } from 'vitest';
import type { ConfiguredEngine, Lineage } from '../../src/engines/engine-identity.js';
import { EngineTable } from '../../src/engines/identify.js';

const UUID = '0b7a1f3e-5c1d-4f7a-9a43-2f0e6f1f9b11';

/** Command lines from the agent's process upwards. Each is a list, or a title. `environment`: of the last one. */
function tree(...commands: readonly (string | readonly string[])[]): Lineage {
  return commands.map((command, i) => ({
    pid: 100 - i,
    argv: typeof command === 'string' ? [command] : command,
    environment: undefined,
  }));
}

function withVariables(lineage: Lineage, variables: Record<string, string>): Lineage {
  const last = lineage.length - 1;
  return lineage.map((line, i) => (i === last ? { ...line, environment: new Map(Object.entries(variables)) } : line));
}

const identify = (agent: string, lineage?: Lineage, rows: readonly ConfiguredEngine[] = []) =>
  new EngineTable(rows).identify(agent, lineage);

const VLLM = (config: object, ...more: string[]) => [
  '/usr/bin/python3',
  '/usr/local/bin/vllm',
  'serve',
  'meta-llama/Llama-3.1-8B',
  '--port',
  '8100',
  '--kv-transfer-config',
  JSON.stringify(config),
  ...more,
];
const DECODE = VLLM({ kv_connector: 'NixlConnector', kv_role: 'kv_consumer' });
const SHELL = ['/bin/bash', '-c', 'vllm serve other-model --port 1 & vllm serve third --port 2'];

describe('trees of engines', () => {
  it('a worker of vLLM, of which comm would hide the rank', () => {
    const found = identify(UUID, tree('VLLM::Worker_TP1', 'VLLM::EngineCore', DECODE, SHELL));
    expect(found).toEqual({
      engine: 'vllm',
      part: 'connector',
      instance: ':8100',
      model: 'meta-llama/Llama-3.1-8B',
      role: 'decode',
      ranks: { tp: 1 },
      title: 'VLLM::Worker_TP1',
      instancePid: 98,
      label: 'vllm :8100 decode TP1',
    });
  });

  it('vLLM with ranks of each kind, some of an ancestor', () => {
    const { ranks, label } = identify(UUID, tree('VLLM::Worker_PP1_TP3_DCP2_EP7', 'VLLM::EngineCore_DP1', DECODE));
    expect(ranks).toEqual({ dp: 1, pp: 1, tp: 3, dcp: 2, ep: 7 });
    expect(label).toBe('vllm :8100 decode DP1 PP1 TP3 DCP2 EP7');
  });

  it('no role and no rank of vLLM where it has none', () => {
    const both = VLLM({ kv_connector: 'NixlConnector', kv_role: 'kv_both' });
    const found = identify(UUID, tree('VLLM::Worker', 'VLLM::EngineCore', both));
    expect([found.role, found.ranks, found.label]).toEqual([undefined, undefined, 'vllm :8100']);
  });

  it('vLLM under another prefix, by its command', () => {
    const found = identify(UUID, tree('mine::Worker_TP2', 'mine::EngineCore', ['vllm', 'serve', 'm', '--port=1']));
    expect([found.engine, found.ranks, found.instance]).toEqual(['vllm', { tp: 2 }, ':1']);
  });

  it('vLLM without its ancestors, and nothing more than is known', () => {
    const found = identify(UUID, tree('VLLM::Worker_TP0'));
    expect(found).toEqual({ engine: 'vllm', ranks: { tp: 0 }, title: 'VLLM::Worker_TP0', label: 'vllm TP0' });
  });

  it('vLLM without a port: the model in its place', () => {
    const command = ['python', '-m', 'vllm.entrypoints.openai.api_server', '--model', '/models/tiny'];
    expect(identify(UUID, tree('VLLM::EngineCore', command)).label).toBe('vllm tiny');
    const bare = ['python', '-m', 'vllm.entrypoints.openai.api_server'];
    expect(identify(UUID, tree('VLLM::EngineCore', bare)).label).toBe('vllm pid 99');
  });

  it('a scheduler of SGLang', () => {
    const command = [
      'python',
      '-m',
      'sglang.launch_server',
      '--model-path',
      'm',
      '--port',
      '30001',
      '--disaggregation-mode',
      'prefill',
    ];
    const found = identify(UUID, tree('sglang::scheduler_DP0_PP0_ATTN_CP1_MOE_DP2_TP3_EP4', command));
    expect(found.ranks).toEqual({ dp: 0, pp: 0, attn_cp: 1, moe_dp: 2, tp: 3, ep: 4 });
    expect(found.part).toBe('disaggregation');
    expect(found.label).toBe('sglang :30001 prefill DP0 PP0 TP3 EP4 ATTN_CP1 MOE_DP2');
  });

  it('Dynamo, which runs vLLM', () => {
    const command = ['python3', '-m', 'dynamo.vllm', '--model', 'org/m', '--disaggregation-mode', 'decode'];
    const found = identify(
      UUID,
      withVariables(tree('VLLM::Worker_TP1', 'VLLM::EngineCore', command), { DYN_SYSTEM_PORT: '9090' }),
    );
    expect([found.engine, found.instance, found.role, found.ranks]).toEqual(['dynamo', ':9090', 'decode', { tp: 1 }]);
    const unread = identify(UUID, tree('VLLM::Worker_TP1', 'VLLM::EngineCore', command));
    expect([unread.instance, unread.label]).toEqual([undefined, 'dynamo m decode TP1']);
  });

  it('TensorRT-LLM, LMCache, Ray and a plain Python', () => {
    const trtllm = ['/usr/bin/python3', '/usr/local/bin/trtllm-serve', 'serve', 'org/m', '--port', '8000'];
    const mpi = ['/usr/bin/python3', '-m', 'mpi4py.futures.server'];
    expect(identify('node-1_77_1234567_0', tree(mpi, trtllm)).label).toBe('trtllm :8000');
    expect(identify(`NixlAgent_${UUID}`, tree(['python', '/bin/lmcache_server', 'x', '--port', '65432'])).label).toBe(
      'lmcache :65432 lmcache',
    );
    expect(identify('0a1b2c3d4e5f60718293a4b5c6d7e8f9', tree('ray::Actor.run')).engine).toBe('ray');
    expect(identify(UUID, tree(['/opt/venv/bin/python3.12', '-u', '-X', 'dev', '/srv/move.py', '--x'])).label).toBe(
      'python move.py',
    );
    expect(identify('decode-0', tree(['python3', '-m', 'my.mover']))).toMatchObject({
      engine: 'python',
      instance: 'my.mover',
    });
    expect(identify('decode-0', tree(['python3', '-m', 'my.mover'])).label).toBeUndefined();
  });

  it('an ancestor that is Python makes no agent one of Python', () => {
    const found = identify('a', tree(['node', 'serve.js'], ['python3', 'supervisor.py']));
    expect(found).toEqual({ title: 'node serve.js', unknown: 'no engine is known by the command node serve.js' });
  });

  it('a shell that has commands of engines in its text is none of them', () => {
    expect(identify('a', tree(['mover'], SHELL)).engine).toBeUndefined();
    expect(identify('a', tree(SHELL)).engine).toBeUndefined();
  });
});

describe('names of agents', () => {
  it.each([
    ['eplb-3-1f2e3d4c', { engine: 'vllm', part: 'rebalancing', ranks: { ep: 3 } }],
    ['eplb-3-pp1-1f2e3d4c', { engine: 'vllm', part: 'rebalancing', ranks: { ep: 3, pp: 1 } }],
    ['ObjAgent', { engine: 'vllm', part: 'tier' }],
    [`hicache_nixl_${UUID}`, { engine: 'sglang', part: 'hicache' }],
    [`DynNixlAgent_${UUID}`, { engine: 'lmcache', part: 'lmcache' }],
    [`sender_${UUID}`, { engine: 'dynamo', part: 'embedding', role: 'sender' }],
    ['remote-g2-source-7', { engine: 'dynamo', part: 'remote-host-cache' }],
    [`RAY-DRIVER-${UUID}`, { engine: 'ray', part: 'driver' }],
  ])('%s tells of itself without a process', (agent, expected) => {
    const { engine, part, role, ranks } = identify(agent);
    expect({ engine, part, role, ranks }).toEqual({ role: undefined, ranks: undefined, ...expected });
  });

  it('a process tells the engine of an agent of LMCache', () => {
    const found = identify(`NixlAgent_${UUID}`, tree('VLLM::Worker_TP1', DECODE));
    expect(found.label).toBe('vllm :8100 decode lmcache TP1');
  });

  it.each([UUID, 'eplb-x-1f2e3d4c', 'decode-0'])('%s alone says nothing', (agent) => {
    expect(identify(agent)).toEqual({ unknown: 'its process is not seen' });
  });
});

describe('rows of the configuration', () => {
  const row = {
    engine: 'mover',
    command: String.raw`mover --side (?<role>\w+) .*:(?<instance>\d+)`,
    agent: '^m(?<tp>\\d+)$',
  };
  const process = tree(['/bin/mover', '--side', 'left', 'tcp:77']);

  it('have the first claim, and find fields by groups', () => {
    expect(identify('m4', process, [row])).toMatchObject({
      engine: 'mover',
      role: 'left',
      instance: '77',
      ranks: { tp: 4 },
      label: 'mover 77 left TP4',
    });
  });

  it('need each of their patterns', () => {
    expect(identify('n4', process, [row]).engine).toBeUndefined();
    expect(identify('m4', tree(['other']), [row]).engine).toBeUndefined();
  });

  it('leave what they do not find to the table', () => {
    const found = identify(UUID, tree('VLLM::Worker_TP1', DECODE), [{ engine: 'house', command: '^VLLM::' }]);
    expect(found.label).toBe('house :8100 decode TP1');
  });
});

it('no text of a process can forge a line or grow without bound', () => {
  const found = identify(UUID, tree(['python3', `a\n\u202e${'x'.repeat(100_000)}.py`]));
  expect(found.title!.length).toBeLessThan(300);
  expect(Object.values(found).join('')).not.toMatch(/[\n\u202e]/);
  expect(found.instance!.length).toBeLessThan(300);
});
