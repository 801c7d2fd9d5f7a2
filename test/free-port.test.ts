/** Ports of tests are outside of the range from which the kernel takes ports, and each is found once. */
import { expect, it } from 'vitest';
import { freePort, LOWEST_OF_KERNEL, portsBelow } from './support/free-port.js';

/** Among 12,000 ports, that many random ones have about ten pairs. */
const COUNT = 500;

it('are found once each', async () => {
  const ports = new Set<number>();
  for (let i = 0; i < COUNT; i++) ports.add(await freePort());
  expect(ports.size).toBe(COUNT);
  if (portsBelow(LOWEST_OF_KERNEL) !== undefined) expect(Math.max(...ports)).toBeLessThan(LOWEST_OF_KERNEL);
});

it.each([
  [32_768, { first: 20_768, count: 12_000 }],
  [10_000, { first: 1024, count: 8976 }],
  [1024, undefined],
])('are below %i where there is room', (lowest, ports) => {
  expect(portsBelow(lowest)).toEqual(ports);
});
