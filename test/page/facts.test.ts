/** Facts in the panel of an agent: those about its way name their source. */
import { expect, it } from 'vitest';
import { wayFacts } from '../../src/page/browser/panel/facts.js';
import type { AgentDetail } from '../../src/view/answers/answer.js';
import type { Way } from '../../src/way/way.js';
import { agentModel } from '../support/agent-models.js';

const tx: Way = {
  ...{ kind: 'rdma', ports: ['mlx5_0/1'], bytesPerByte: 1.02, windows: 12, sure: 'certain', sinceMs: 0 },
  before: 'tcp by eth0',
};
const port = { name: 'mlx5_0/1', device: 'mlx5_0', gigabits: 400, numaNode: 1, sentPerSecond: 26e9 };

it('names counters, maps, open files, variables and /sys', () => {
  const way = { tx, backends: ['UCX'], devices: ['mlx5_0'], ucxTls: 'rc' };
  const agent = agentModel('a', { way }) as unknown as AgentDetail;
  expect(wayFacts(agent, [port, { ...port, name: 'mlx5_1/1' }])).toEqual([
    ['tx', 'rdma by mlx5_0/1: mlx5_0/1 carried 102% of its bytes; seen in 12 windows'],
    ['Before', 'tx tcp by eth0'],
    ['Backends', 'UCX (its maps)'],
    ['UCX_TLS', 'rc'],
    ['Devices', 'mlx5_0 (open files)'],
    ['mlx5_0/1', '400 Gb/s, 52% busy, NUMA node 1 (/sys)'],
  ]);
  const without = agentModel('b', { way: { backends: [] } }) as unknown as AgentDetail;
  expect(wayFacts(without, [])).toEqual([['Backends', 'none (its maps)']]);
});
