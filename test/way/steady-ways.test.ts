/** Ways as labels: only those that lasted. */
import { expect, it } from 'vitest';
import { SteadyWays } from '../../src/way/steady-ways.js';
import type { Way } from '../../src/way/way.js';

const tcp = { kind: 'tcp', ports: ['eth0'], windows: 9, sure: 'certain', sinceMs: 0 } as const satisfies Way;
const rdma = { ...tcp, kind: 'rdma', ports: ['mlx5_0/1'] } as const satisfies Way;
const unknown = { ...tcp, kind: 'unknown', ports: [], sure: 'unknown' } as const satisfies Way;

/** Takes a sample every 15 s. Returns the label after each. */
function labels(ways: readonly Way[]): (string | undefined)[] {
  const steady = new SteadyWays();
  return ways.map((tx, i) => {
    steady.take(i * 15_000, new Map([[7, { tx }]]));
    return steady.of(7)?.tx;
  });
}

it('are those that were certain for a minute', () => {
  expect(labels([tcp, tcp, tcp, tcp, tcp])).toEqual([undefined, undefined, undefined, undefined, 'tcp by eth0']);
  expect(labels(new Array<Way>(9).fill({ ...tcp, sure: 'likely' }))).toEqual(new Array(9).fill(undefined));
  expect(labels(new Array<Way>(9).fill(unknown))).toEqual(new Array(9).fill(undefined));
});

it('stay in doubt, and give way to another that lasted', () => {
  const five = (way: Way): Way[] => new Array<Way>(5).fill(way);
  const found = labels([...five(tcp), unknown, tcp, rdma, tcp, ...five(rdma)]);
  expect(found.slice(4, -1)).toEqual(new Array(9).fill('tcp by eth0'));
  expect(found.at(-1)).toBe('rdma by mlx5_0/1');
});

it('are one object until one changes, and end with the agent', () => {
  const steady = new SteadyWays();
  for (let i = 0; i < 5; i++) steady.take(i * 15_000, new Map([[7, { tx: tcp }]]));
  const first = steady.of(7);
  expect(first).toEqual({ tx: 'tcp by eth0' });
  steady.take(80_000, new Map([[7, { tx: tcp, rx: rdma }]]));
  expect(steady.of(7)).toBe(first);
  steady.take(140_000, new Map([[7, { tx: tcp, rx: rdma }]]));
  expect(steady.of(7)).toEqual({ tx: 'tcp by eth0', rx: 'rdma by mlx5_0/1' });
  steady.take(150_000, new Map());
  expect(steady.of(7)).toBeUndefined();
});
