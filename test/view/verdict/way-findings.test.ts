/** Notes about the way of agents' bytes, and the way in findings about slow transfers. */
import { expect, it } from 'vitest';
import { timeOfDay } from '../../../src/ground/figures/clock.js';
import type { AgentModel } from '../../../src/view/model/agent-model.js';
import type { SlowFact } from '../../../src/view/slowness/slow-facts.js';
import { slowFindings } from '../../../src/view/verdict/slow-findings.js';
import { wayFindings } from '../../../src/view/verdict/way-findings.js';
import type { HostPort, Way } from '../../../src/way/way.js';
import { agentModel } from '../../support/agent-models.js';

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
const SINCE_MS = NOW_MS - 60_000;

const seen: Pick<Way, 'windows' | 'sure' | 'sinceMs'> = { windows: 12, sure: 'certain', sinceMs: SINCE_MS };
const TCP: Way = { ...seen, kind: 'tcp', ports: ['eth0'], bytesPerByte: 1.01 };
const rdma = (port = 'mlx5_0/1'): Way => ({ ...seen, kind: 'rdma', ports: [port], bytesPerByte: 1.02 });
const portOf = (name: string, more: Partial<HostPort> = {}): HostPort => ({
  ...{ name, device: name.split('/')[0]!, isActive: true, gigabits: 400, linkLayer: 'InfiniBand' },
  ...{ sentPerSecond: 0, receivedPerSecond: 0 },
  ...more,
});
const agentWith = (id: string, tx: Way, more: Partial<AgentModel<string>> = {}) =>
  agentModel(id, { way: { tx }, ...more });

function sentencesOf(agents: readonly AgentModel[], ports: readonly HostPort[]): string[] {
  const origin = { kind: 'serve', name: 'x', directories: [] } as const;
  return wayFindings({ origin, takenMs: NOW_MS, observedSinceMs: 0, agents, ports }).map(
    ({ word, sentence }) => `${word}: ${sentence}`,
  );
}

it('says that bytes go by TCP while RDMA ports are active', () => {
  const ports = [portOf('mlx5_0/1'), portOf('mlx5_1/1', { isActive: false })];
  expect(sentencesOf([agentWith('a', { ...TCP, before: 'rdma by mlx5_0/1' })], ports)).toEqual([
    `By TCP: a: bytes go tcp by eth0 since ${timeOfDay(SINCE_MS)}, before rdma by mlx5_0/1, and RDMA ports are active: mlx5_0/1`,
  ]);
  expect(sentencesOf([agentWith('a', { ...TCP, ports: ['lo'] })], ports)).toEqual([]);
  expect(sentencesOf([agentWith('a', TCP)], [])).toEqual([]);
  expect(sentencesOf([agentWith('a', TCP)], [portOf('mlx5_1/1', { isActive: false })])).toEqual([]);
  expect(sentencesOf([agentWith('a', TCP, { life: 'dead' })], ports)).toEqual([]);
});

it('says that agents of one engine use one port, and others are idle', () => {
  const ranks = ['a', 'b'].map((id) => agentWith(id, rdma(), { engine: { instancePid: 7 } }));
  const busy = portOf('mlx5_0/1', { sentPerSecond: 1e10 });
  expect(sentencesOf(ranks, [busy, portOf('mlx5_1/1')])).toEqual([
    'One port: 2 agents (a and b): all tx by mlx5_0/1, and 1 other active port of its rate is idle (mlx5_1/1)',
  ]);
  expect(sentencesOf(ranks, [busy, portOf('mlx5_1/1', { sentPerSecond: 1e9 })])).toEqual([]);
  expect(sentencesOf(ranks, [busy, portOf('mlx5_1/1', { gigabits: 100 })])).toEqual([]);
  expect(sentencesOf(ranks.slice(1), [busy, portOf('mlx5_1/1')])).toEqual([]);
  const strangers = ['a', 'b'].map((id) => agentWith(id, rdma()));
  expect(sentencesOf(strangers, [busy, portOf('mlx5_1/1')])).toEqual([]);
});

it('says that a port is slower than others', () => {
  const ports = [portOf('mlx5_0/1', { gigabits: 5 }), portOf('mlx5_1/1')];
  expect(sentencesOf([agentWith('a', rdma())], ports)).toEqual([
    'Slow port: a: bytes go by mlx5_0/1, which has 5 Gb/s; others of this host have 400',
  ]);
  expect(sentencesOf([agentWith('a', rdma('mlx5_1/1'))], ports)).toEqual([]);
  expect(sentencesOf([agentWith('a', rdma())], [ports[0]!, portOf('e/1', { linkLayer: 'Ethernet' })])).toEqual([]);
});

it('says that a port is on another NUMA node than memory', () => {
  const ports = [portOf('mlx5_0/1', { numaNode: 0 }), portOf('mlx5_1/1', { numaNode: 1 }), portOf('mlx5_2/1')];
  const pinned = (id: string, memoryNode: number | undefined, ...names: string[]): AgentModel =>
    agentModel(id, { way: { tx: { ...rdma(), ports: names }, ...(memoryNode !== undefined && { memoryNode }) } });
  expect(sentencesOf([pinned('a', 0, 'mlx5_1/1'), pinned('b', 0, 'mlx5_1/1')], ports)).toEqual([
    'Far port: 2 agents (a and b): bytes go by mlx5_1/1 of NUMA node 1, and the host memory of these agents is on node 0 alone',
  ]);
  for (const near of [
    pinned('a', 1, 'mlx5_1/1'),
    pinned('a', 0, 'mlx5_0/1', 'mlx5_1/1'), // two rails
    pinned('a', undefined, 'mlx5_1/1'), // memory of several nodes
    pinned('a', 0, 'mlx5_2/1'), // a node that is not known
    agentModel('a', { way: { tx: { ...TCP, ports: ['mlx5_1/1'] }, memoryNode: 0 } }),
  ]) {
    expect(sentencesOf([near], ports).filter((one) => !one.startsWith('By TCP'))).toEqual([]);
  }
});

it('adds the way, and the one before it, to slow transfers', () => {
  const times = { timeUs: 3000, usualUs: 100, postUs: 1, usualPostUs: 1, slow: true };
  const fact: SlowFact = {
    ...{
      id: 'a',
      name: 'a',
      kind: 'slow-transfers',
      direction: 'transmit',
      factor: 30,
      sinceMs: SINCE_MS,
      saidMs: SINCE_MS,
    },
    classes: [
      { ...times, upToBytes: 2 ** 20, meanBytes: 2 ** 20 },
      { ...times, upToBytes: 2 ** 22, meanBytes: 2 ** 22, timeUs: 12_000, usualUs: 400 },
    ],
  };
  const sentenceOf = (way: Way): string =>
    slowFindings({ slowness: [fact], takenMs: NOW_MS, agents: [agentWith('a', way)] })[0]!.sentence;
  expect(sentenceOf(rdma())).toMatch(/\. Its bytes go rdma by mlx5_0\/1$/);
  expect(sentenceOf({ ...TCP, before: 'rdma by mlx5_0/1' })).toContain(
    `. Its bytes go tcp by eth0 since ${timeOfDay(SINCE_MS)}, before rdma by mlx5_0/1`,
  );
  expect(sentenceOf({ ...seen, kind: 'unknown', ports: [], sure: 'unknown' })).not.toContain('Its bytes');
});
