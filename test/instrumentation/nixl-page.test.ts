/** In naming `nixl` a scrape must show what NIXL's own exporter shows: names, types, labels and buckets. */
import { describe, expect, it } from 'vitest';
import { BOUNDS, STATUSES } from '../support/nixl-pages.js';
import { agentSnapshot, InMemorySource } from './in-memory-source.js';
import { producerOn, scrape } from './readers.js';

// prettier-ignore
const FAMILIES: Record<string, 'counter' | 'gauge' | 'histogram'> = {
  agent_tx_bytes_total: 'counter', agent_rx_bytes_total: 'counter',
  agent_tx_requests_num_total: 'counter', agent_rx_requests_num_total: 'counter',
  agent_memory_registered_total: 'counter', agent_memory_deregistered_total: 'counter',
  agent_xfer_time_total: 'counter', agent_xfer_post_time_total: 'counter',
  agent_telemetry_events_dropped_total: 'counter', agent_errors_total: 'counter',
  agent_tx_last_bytes: 'gauge', agent_rx_last_bytes: 'gauge',
  agent_memory_registered_last_bytes: 'gauge', agent_memory_deregistered_last_bytes: 'gauge',
  agent_xfer_time: 'gauge', agent_xfer_post_time: 'gauge',
  agent_xfer_time_us: 'histogram', agent_xfer_post_time_us: 'histogram',
};

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: string;
}

function samplesOf(page: string): Sample[] {
  return page
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels, value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line)!;
      const pairs = [...labels!.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key!, text!]);
      return { name: name!, labels: Object.fromEntries(pairs) as Record<string, string>, value: value! };
    });
}

async function pageOf(source: InMemorySource): Promise<string> {
  return scrape(producerOn(source, { hostname: 'vm' }));
}

describe('a scrape of an agent without events', async () => {
  const source = new InMemorySource();
  source.agents = [agentSnapshot({ id: 1, agent: 'agent-0' })];
  const page = await pageOf(source);
  const samples = samplesOf(page);

  it('has every family of the exporter of NIXL, with its type', () => {
    const types = Object.fromEntries(
      [...page.matchAll(/^# TYPE (agent_\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!]),
    );
    expect(types).toEqual(FAMILIES);
  });

  it('has no units that would change a name', () => {
    expect(page).not.toMatch(/^# UNIT agent_/m);
  });

  it('has all of them at 0', () => {
    const own = samples.filter(({ name }) => name.startsWith('agent_'));
    expect(own.filter(({ value }) => value !== '0')).toEqual([]);
  });

  it('has one sample per family, one per status of the errors', () => {
    const plain = Object.keys(FAMILIES).filter(
      (name) => FAMILIES[name] !== 'histogram' && name !== 'agent_errors_total',
    );
    for (const name of plain)
      expect(
        samples.filter((sample) => sample.name === name),
        name,
      ).toHaveLength(1);
    const statuses = samples.filter(({ name }) => name === 'agent_errors_total').map(({ labels }) => labels.status);
    expect(statuses.sort()).toEqual([...STATUSES].sort());
  });

  it('has the labels of NIXL and no others', () => {
    for (const { name, labels } of samples.filter(({ name }) => name.startsWith('agent_'))) {
      const keys = Object.keys(labels).filter((key) => key !== 'le' && key !== 'status');
      expect(keys.sort(), name).toEqual(['agent_name', 'hostname']);
      expect(labels).toMatchObject({ agent_name: 'agent-0', hostname: 'vm' });
    }
  });

  it('has the buckets of NIXL', () => {
    for (const name of ['agent_xfer_time_us', 'agent_xfer_post_time_us']) {
      expect(samples.filter((sample) => sample.name === `${name}_bucket`).map(({ labels }) => labels.le)).toEqual(
        BOUNDS,
      );
      expect(samples.filter((sample) => sample.name === `${name}_count`)).toHaveLength(1);
      expect(samples.filter((sample) => sample.name === `${name}_sum`)).toHaveLength(1);
    }
  });
});

describe('a scrape of agents at work', () => {
  it('shows sums, last values and cumulative buckets', async () => {
    const source = new InMemorySource();
    source.agents = [
      agentSnapshot({ id: 1, agent: 'a' }, { 0: [100n, 50n], 6: [9n, 10n, 11n, 20_000_000n], 11: [1n, 1n] }),
    ];
    const samples = samplesOf(await pageOf(source));
    const value = (name: string, labels: Record<string, string> = {}) =>
      samples.find((sample) => sample.name === name && Object.entries(labels).every(([k, v]) => sample.labels[k] === v))
        ?.value;
    expect(value('agent_tx_bytes_total')).toBe('150');
    expect(value('agent_tx_last_bytes')).toBe('50');
    expect(value('agent_errors_total', { status: 'not_found' })).toBe('2');
    expect(value('agent_xfer_time_total')).toBe('20000030');
    expect(value('agent_xfer_time_us_bucket', { le: '10' })).toBe('2');
    expect(value('agent_xfer_time_us_bucket', { le: '10000000' })).toBe('3');
    expect(value('agent_xfer_time_us_bucket', { le: '+Inf' })).toBe('4');
    expect(value('agent_xfer_time_us_sum')).toBe('20000030');
    expect(value('nixl_events_total', { event: 'agent_tx_bytes' })).toBe('2');
  });

  it('has no series twice and no family twice, also with agents of one name and odd event names', async () => {
    const source = new InMemorySource();
    const odd = [0, 1].map(() => ({
      name: '\uFFFD',
      category: 3,
      known: false,
      overflow: false,
      count: 1,
      sum: 1n,
      last: 1n,
    }));
    odd[1]!.category = 99;
    const bad = [98, 99].map((category) => ({ ...odd[0]!, category, name: 'x' }));
    source.agents = [
      agentSnapshot({ id: 1, agent: 'a', directory: '/one' }, { 0: [1n] }, [...odd, ...bad]),
      agentSnapshot({ id: 2, agent: 'a', directory: '/two' }, { 0: [1n] }),
      agentSnapshot({ id: 3, agent: 'b' }, { 6: [1n] }),
    ];
    const page = await pageOf(source);
    const keys = samplesOf(page).map(({ name, labels }) => `${name} ${JSON.stringify(Object.entries(labels).sort())}`);
    expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
    const families = [...page.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
    expect(new Set(families).size).toBe(families.length);
  });
});
