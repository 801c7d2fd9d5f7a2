/** A rate as a share of that of the RDMA ports by which an agent's bytes go. */
import { expect, test } from 'vitest';
import { shareOfPorts, type RdmaPort, type Way } from '../../src/way/way.js';

const port = (name: string, gigabits?: number): RdmaPort => ({
  name,
  device: name.split('/')[0]!,
  ...(gigabits === undefined ? {} : { gigabits }),
});
const PORTS = [port('mlx5_0/1', 400), port('mlx5_1/1', 400), port('efa_0/1'), port('down_0/1', 0)];

function by(ports: readonly string[], more: Partial<Way> = {}): Way {
  return { kind: 'rdma', ports, windows: 9, sure: 'certain', sinceMs: 0, ...more };
}

test.each<[what: string, rate: number | undefined, way: Way | undefined, share: number | undefined]>([
  ['one port', 20.5e9, by(['mlx5_0/1']), 0.41],
  ['two ports together', 20e9, by(['mlx5_0/1', 'mlx5_1/1']), 0.2],
  ['no line', undefined, by(['mlx5_0/1']), undefined],
  ['no way', 20e9, undefined, undefined],
  ['a likely way', 20e9, by(['mlx5_0/1'], { sure: 'likely' }), undefined],
  ['another kind', 20e9, by(['mlx5_0/1'], { kind: 'mixed' }), undefined],
  ['a port without a rate', 20e9, by(['mlx5_0/1', 'efa_0/1']), undefined],
  ['a port of rate 0', 20e9, by(['down_0/1']), undefined],
  ['a port that is gone', 20e9, by(['mlx5_0/1', 'mlx5_9/1']), undefined],
  ['no port', 20e9, by([]), undefined],
])('%s', (_, rate, way, share) => {
  expect(shareOfPorts(rate, way, PORTS)).toBe(share);
});
