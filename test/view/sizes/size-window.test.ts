import { expect, test } from 'vitest';
import type { SizeClassTally } from '../../../src/ground/tally.js';
import { SizeWindow, WINDOW_MS } from '../../../src/view/sizes/size-window.js';
import { exponentialTally } from '../../support/exponential.js';

/** Returns an agent that has sent `count` transfers of 1 KiB in 10 us each. */
function agentWith(count: number, id = 1) {
  const duration = { sum: BigInt(10 * count), exponential: exponentialTally(new Array<number>(count).fill(10)) };
  const post = { sum: 0n, exponential: exponentialTally([]) };
  const one: SizeClassTally = { upToBytes: 1024, count, bytes: BigInt(1024 * count), duration, post };
  const none = { classes: [], endedInPost: 0, flushSquares: 0n };
  return { id, timeBySize: { transmit: { ...none, classes: count === 0 ? [] : [one] }, receive: none } };
}

const recentCount = (window: SizeWindow, takenMs: number, count: number): number =>
  window.recentOf(agentWith(count), takenMs).transmit.reduce((sum, one) => sum + one.count, 0);

test('has the transfers since the counts of a minute ago, whatever the times of its snapshots', () => {
  const window = new SizeWindow();
  // One transfer a second, counted every five seconds: the window is a minute and at most 20 s long.
  for (let s = 0; s <= 300; s += 5) {
    window.take(1000 * s, [agentWith(s)]);
    const spanS = window.spanAt(1000 * s) / 1000;
    expect(spanS).toBe(Math.min(s, spanS));
    if (s >= 60) expect(spanS).toBeGreaterThanOrEqual(60);
    expect(spanS).toBeLessThan(80);
    expect(recentCount(window, 1000 * s, s)).toBe(spanS);
  }
});

test('has all transfers of an agent that is younger than the window, and of one that began anew', () => {
  const window = new SizeWindow();
  window.take(0, []);
  window.take(20_000, [agentWith(50)]);
  expect(recentCount(window, 30_000, 60)).toBe(60);
  expect(recentCount(window, 20_000 + WINDOW_MS, 60)).toBe(10);
  expect(recentCount(window, 20_000 + WINDOW_MS, 7)).toBe(7);
});

test('forgets an agent that is gone', () => {
  const window = new SizeWindow();
  for (let ms = 0; ms <= 5 * WINDOW_MS; ms += 20_000) window.take(ms, ms === 0 ? [agentWith(5)] : []);
  expect(recentCount(window, 5 * WINDOW_MS, 5)).toBe(5);
});
