import { describe, expect, it } from 'vitest';
import { agentAttributes, ambiguousNames, hostAttributes, withLabels } from '../../src/mapping/index.js';
import { infoAttributes } from '../../src/mapping/naming.js';

describe('attributes', () => {
  it('of an agent are the labels of NIXL in naming nixl', () => {
    const attributes = agentAttributes('nixl', { agent: 'a', hostname: 'h' });
    expect(attributes).toEqual({ hostname: 'h', agent_name: 'a' });
    expect(withLabels('nixl', attributes, { category: 'C', status: 'canceled' })).toEqual({
      hostname: 'h',
      agent_name: 'a',
      category: 'C',
      status: 'canceled',
    });
  });

  it('of an agent leave the host to the resource in naming otel', () => {
    const attributes = agentAttributes('otel', { agent: 'a', hostname: 'h' });
    expect(attributes).toEqual({ 'nixl.agent.name': 'a' });
    expect(withLabels('otel', attributes, { status: 'canceled', direction: 'transmit' })).toEqual({
      'nixl.agent.name': 'a',
      'error.type': 'canceled',
      'nixl.transfer.direction': 'transmit',
    });
    expect(hostAttributes('otel', 'h')).toEqual({});
  });

  it('of the info metric have a name for people and the ways that are known', () => {
    const identity = { agent: 'a', hostname: 'h', pid: 7, ways: { tx: 'rdma by mlx5_0/1' } };
    expect(infoAttributes('nixl', {}, identity)).toEqual({ display_name: 'a', pid: 7, way_tx: 'rdma by mlx5_0/1' });
    expect(infoAttributes('otel', {}, identity)).toMatchObject({ 'nixl.agent.way.tx': 'rdma by mlx5_0/1' });
  });

  it('name the directory if one is given', () => {
    const identity = { agent: 'a', hostname: 'h', directory: '/d' };
    expect(agentAttributes('nixl', identity).ring_directory).toBe('/d');
    expect(agentAttributes('otel', identity)['nixl.ring.directory']).toBe('/d');
  });
});

describe('ambiguous names', () => {
  it('are those that more than one agent has', () => {
    const agents = ['a', 'b', 'a', 'c', 'a'].map((agent) => ({ agent }));
    expect([...ambiguousNames(agents)]).toEqual(['a']);
  });
});
