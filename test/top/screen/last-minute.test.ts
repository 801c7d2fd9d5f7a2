import { expect, it } from 'vitest';
import { exponentialCount, type ExponentialTally } from '../../../src/ground/exponential.js';
import { LastMinute } from '../../../src/top/screen/last-minute.js';
import { failed } from '../../support/agent-models.js';
import { exponentialTally } from '../../support/exponential.js';
import { totals } from '../samples.js';

const at = (second: number) =>
  totals('a', {
    ...failed({ canceled: second, backend: 2 * second }),
    transferTimesUs: exponentialTally(Array<number>(second).fill(7)),
  });

/** The last minute after a sample in each of these seconds. */
function after(...seconds: number[]): LastMinute {
  const lastMinute = new LastMinute();
  for (const second of seconds) lastMinute.add(second * 1_000, [at(second)]);
  return lastMinute;
}

it('has what an agent did in a minute, and at most five seconds more', () => {
  const seconds = Array.from({ length: 200 }, (_, i) => i + 1);
  const recent = after(...seconds).of(at(200), 200_000)!;
  expect(recent.spanMs).toBeGreaterThanOrEqual(60_000);
  expect(recent.spanMs).toBeLessThan(65_000);
  const count = recent.spanMs / 1_000;
  expect(recent).toMatchObject({ errors: 3 * count, errorsByStatus: { canceled: count, backend: 2 * count } });
  expect(exponentialCount(recent.transferTimesUs as ExponentialTally)).toBe(count);
});

it('is shorter while top has run for less', () => {
  expect(after(1, 2, 3).of(at(9), 9_000)).toMatchObject({ spanMs: 8_000, errors: 24 });
  expect(after(1).of(at(1), 1_000)).toBeUndefined();
  expect(after(1).of(totals('new'), 9_000)).toBeUndefined();
});

it('is longer if samples are rarer', () => {
  expect(after(100, 400).of(at(400), 400_000)).toMatchObject({ spanMs: 300_000 });
});

it('begins anew with the counts of an agent, and when the clock is set back', () => {
  expect(after(50).of(at(20), 60_000)).toMatchObject({ errors: 60, errorsByStatus: { canceled: 20 } });
  const back = after(500, 3);
  expect(back.of(at(8), 8_000)).toMatchObject({ spanMs: 5_000 });
});

it('has copies that do not change with it', () => {
  const lastMinute = after(1);
  const copy = lastMinute.copy();
  for (let second = 100; second < 200; second += 5) lastMinute.add(second * 1_000, [at(second)]);
  expect(copy.of(at(11), 11_000)).toMatchObject({ spanMs: 10_000 });
});
