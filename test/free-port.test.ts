/** Ports of tests are outside of the range from which the kernel takes ports, and each is found once. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { freePort } from './support/free-port.js';

/** Among 12,000 ports, that many random ones have about ten pairs. */
const COUNT = 500;

it('are found once each', async () => {
  const ports = new Set<number>();
  for (let i = 0; i < COUNT; i++) ports.add(await freePort());
  expect(ports.size).toBe(COUNT);
  const [lowest] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split('\t');
  expect(Math.max(...ports)).toBeLessThan(Number(lowest));
});
