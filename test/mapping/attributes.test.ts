import { describe, expect, it } from 'vitest';
import {
  AttributeRegistry,
  type AttributeSpec,
  type AttributeSubject,
  gpuIdentifier,
} from '../../src/mapping/index.js';

const GPUS = ['NVIDIA A100', 'NVIDIA A100', 'NVIDIA V100'];
const SUBJECT: AttributeSubject = {
  agent: 'prefill-3',
  hostname: 'Node-1.example',
  environment: { POD_NAME: 'prefill-0', DEBUG: 'yes', EMPTY: '' },
  process: {
    pid: 42,
    environment: { MODEL: 'Llama 3', TAGS: 'a, b,,c' },
    localRank: '7',
    gpus: GPUS,
    name: 'VLLM::Worker',
    containerId: 'C-1',
    podUid: 'ff49d0be-16b7-4a49-bb9e-8ec1f1f4e27f',
  },
};

function resolve(spec: Omit<AttributeSpec, 'name'>, subject = SUBJECT): unknown {
  return new AttributeRegistry([{ name: 'x', ...spec }]).resolve(subject)['x'];
}

describe('an attribute', () => {
  const rank = { pattern: '(?<role>prefill|decode)-(?<rank>\\d+)', group: 'rank' };
  it.each<[Omit<AttributeSpec, 'name'>, unknown]>([
    [{ source: 'agent' }, 'prefill_3'],
    [{ source: 'agent', type: 'text' }, 'prefill-3'],
    [{ source: rank, type: 'integer' }, 3],
    [{ source: { ...rank, group: 'role' } }, 'prefill'],
    [{ source: 'hostname' }, 'node_1_example'],
    [{ source: { constant: 'EU West/1' } }, 'eu_west_1'],
    [{ source: { constant: true }, type: 'boolean' }, true],
    [{ source: { env: 'POD_NAME' }, type: 'text' }, 'prefill-0'],
    [{ source: { env: 'DEBUG' }, type: 'boolean' }, true],
    [{ source: 'pid', type: 'integer' }, 42],
    [{ source: 'local_rank', type: 'integer' }, 7],
    [{ source: { agentEnv: 'MODEL' } }, 'llama_3'],
    [{ source: { agentEnv: 'TAGS' }, type: 'list' }, ['a', 'b', 'c']],
    [{ source: 'gpus', type: 'list' }, GPUS],
    [{ source: 'gpu_count', type: 'integer' }, 3],
    [{ source: 'gpu_identifier' }, '3_NVIDIA_A100_2_NVIDIA_V100_1'],
    [{ source: 'process_name' }, 'VLLM::Worker'],
    [{ source: 'process_name', type: 'string' }, 'vllm__worker'],
    [{ source: 'container_id' }, 'C-1'],
    [{ source: 'pod_uid' }, 'ff49d0be-16b7-4a49-bb9e-8ec1f1f4e27f'],
    [{ source: { podEnv: 'MODEL' }, type: 'text' }, 'Llama 3'],
  ])('from %j is %j', (spec, value) => {
    expect(resolve(spec)).toEqual(value);
  });

  it.each<[Omit<AttributeSpec, 'name'>]>([
    [{ source: { env: 'EMPTY' } }],
    [{ source: { env: 'NOT_SET' } }],
    [{ source: { podEnv: 'POD_NAME' } }], // the agent may be in another pod
    [{ source: { record: 'action' } }],
    [{ source: { ...rank, pattern: 'decode-(?<rank>\\d+)' } }],
    [{ source: 'agent', type: 'integer' }],
    [{ source: 'agent', type: 'boolean' }],
    [{ source: { constant: '99999999999999999999' }, type: 'integer' }],
  ])('from %j has no value, and takes its default', (spec) => {
    expect(resolve(spec)).toBeUndefined();
    expect(resolve({ ...spec, default: 'none' })).toBe('none');
  });

  it("can come from the reader's variables if the agent is in its pod and has no variable of its own", () => {
    const inOwnPod = { ...SUBJECT, process: { ...SUBJECT.process!, isInOwnPod: true } };
    const name = { source: { podEnv: 'POD_NAME' }, type: 'text' } as const;
    expect(resolve(name, inOwnPod)).toBe('prefill-0');
    const own = { ...inOwnPod.process, environment: { POD_NAME: 'own' } };
    expect(resolve(name, { ...inOwnPod, process: own })).toBe('own');
    expect(resolve({ source: { podEnv: 'EMPTY' } }, inOwnPod)).toBeUndefined();
  });

  it('can come from a record, but not from its prototype', () => {
    const record = { version: 2, success: true, gpu: GPUS };
    const subject = { hostname: 'h', environment: {}, record, gpus: record.gpu };
    expect(resolve({ source: { record: 'version' }, type: 'integer' }, subject)).toBe(2);
    expect(resolve({ source: { record: 'success' }, type: 'boolean' }, subject)).toBe(true);
    expect(resolve({ source: { record: 'gpu' }, type: 'list' }, subject)).toEqual(GPUS);
    expect(resolve({ source: 'gpu_identifier' }, subject)).toBe('3_NVIDIA_A100_2_NVIDIA_V100_1');
    expect(resolve({ source: { record: 'constructor' } }, subject)).toBeUndefined();
  });
});

describe('attributes', () => {
  it('are sorted by order, those without one last', () => {
    const spec = (name: string, order?: number): AttributeSpec => ({
      name,
      source: { constant: 1 },
      ...(order === undefined ? {} : { order }),
    });
    const registry = new AttributeRegistry([spec('c'), spec('b', 2), spec('a', 1), spec('d')]);
    expect(Object.keys(registry.resolve(SUBJECT))).toEqual(['a', 'b', 'c', 'd']);
  });

  it('report what they need of the agent process', () => {
    const about = (source: AttributeSpec['source']): AttributeRegistry =>
      new AttributeRegistry([{ name: 'x', source }]);
    expect(about('agent').needsProcess).toBe(false);
    expect(about('pid').needsProcess).toBe(true);
    expect(about({ agentEnv: 'A' })).toMatchObject({ needsProcess: true, agentVariables: ['A'] });
  });
});

describe('a GPU identifier', () => {
  it.each([
    [[], '0'],
    [['NVIDIA A100'], '1_NVIDIA_A100_1'],
    [['NVIDIA V100', 'NVIDIA A100', 'NVIDIA A100'], '3_NVIDIA_A100_2_NVIDIA_V100_1'],
    [['nvidia h100-80gb', ' NVIDIA H100 80GB '], '2_NVIDIA_H100_80GB_2'],
  ])('of %j is %s', (names, identifier) => {
    expect(gpuIdentifier(names)).toBe(identifier);
  });
});
