import { describe, expect, it } from 'vitest';
import type { PastValues } from '../../../src/top/points.js';
import { History } from '../../../src/top/screen/history.js';
import { sumOfFleets } from '../../../src/top/screen/sum-of-fleets.js';

const NOTHING: PastValues = {
  tx: undefined,
  rx: undefined,
  requests: undefined,
  errors: undefined,
  p50: undefined,
  p90: undefined,
  p99: undefined,
  tooLow: 0,
};

/** A history of these rates, a second each, from time 0 on; undefined: a gap. */
function historyOf(...rates: (Partial<PastValues> | undefined)[]): History {
  const history = new History();
  rates.forEach((values, second) => {
    if (values !== undefined) history.add(second * 1_000, second * 1_000 + 1_000, { ...NOTHING, ...values });
  });
  return history;
}

const tx = (...rates: (number | undefined)[]): History =>
  historyOf(...rates.map((rate) => (rate === undefined ? undefined : { tx: rate, rx: 1 })));

describe('parts of a history', () => {
  it('have the mean of rates and the highest of percentiles', () => {
    const history = historyOf({ tx: 1, p99: 7 }, { tx: 3, p99: 5 }, { tx: 10, p99: 1 }, { tx: 20, p99: 2 });
    expect([...history.parts(['tx'], 4_000, 4_000, 2)]).toEqual([2, 15]);
    expect([...history.parts(['p99'], 4_000, 4_000, 2)]).toEqual([7, 2]);
  });

  it('have sums of several fields', () => {
    expect([...tx(1, 2).parts(['tx', 'rx'], 2_000, 2_000, 2)]).toEqual([2, 3]);
  });

  it('have gaps where nothing is known', () => {
    expect([...tx(1, undefined, 3).parts(['tx'], 4_000, 5_000, 5)]).toEqual([NaN, 1, NaN, 3, NaN]);
    expect([...historyOf({}).parts(['tx'], 1_000, 1_000, 1)]).toEqual([NaN]);
  });

  it('keep their values when time goes on', () => {
    const history = tx(...Array.from({ length: 20 }, (_, i) => i));
    const before = [...history.parts(['tx'], 18_000, 12_000, 4)];
    expect([...history.parts(['tx'], 19_000, 12_000, 4)].slice(0, 3)).toEqual(before.slice(1));
  });

  it('end at the given time: later values are not in them', () => {
    expect([...tx(1, 2, 3).parts(['tx'], 2_000, 2_000, 2)]).toEqual([1, 2]);
  });

  it('are filled by a time that is longer than a part', () => {
    const history = new History();
    history.add(0, 10_000, { ...NOTHING, tx: 4 });
    expect([...history.parts(['tx'], 10_000, 10_000, 5)]).toEqual([4, 4, 4, 4, 4]);
  });
});

describe('a history', () => {
  it('joins times shorter than a second, and keeps five minutes of them', () => {
    const history = new History();
    for (let i = 0; i < 4_000; i++) history.add(i * 100, i * 100 + 100, { ...NOTHING, tx: i % 10 });
    const parts = history.parts(['tx'], 400_000, 300_000, 3);
    for (const part of parts) expect(part).toBeCloseTo(4.5);
  });

  it('forgets the oldest times', () => {
    const history = tx(...Array<number>(310).fill(5));
    expect(history.parts(['tx'], 310_000, 310_000, 310).findIndex((value) => value === 5)).toBe(10);
    expect(tx(900, ...Array<number>(300).fill(5)).highest(['tx'])).toBe(5);
  });

  it('has its highest and lowest values, also of the last time only', () => {
    const history = tx(9, 0, 4, 2);
    expect(history.highest(['tx', 'rx'])).toBe(10);
    expect(history.highest(['tx'], 2_500)).toBe(4);
    expect(history.lowest('tx')).toBe(2);
    expect(tx(1, 5, 4).lowest('tx', 1_000)).toBe(4);
    expect([new History().highest(['tx']), new History().lowest('tx')]).toEqual([0, Infinity]);
  });

  it('ignores a time before the last one', () => {
    const history = tx(1, 2);
    history.add(500, 900, { ...NOTHING, tx: 100 });
    history.add(3_000, 3_000, { ...NOTHING, tx: 100 });
    expect(history.highest(['tx'])).toBe(2);
  });

  it('has copies that do not change with it', () => {
    const history = tx(1);
    const copy = history.copy();
    history.add(1_000, 2_000, { ...NOTHING, tx: 50 });
    expect([copy.highest(['tx']), history.highest(['tx'])]).toEqual([1, 50]);
    history.clear();
    expect([copy.highest(['tx']), history.highest(['tx'])]).toEqual([1, 0]);
  });
});

describe('a filled history', () => {
  const point = (fromMs: number, toMs: number, values: Partial<PastValues>) => ({
    fromMs,
    toMs,
    values: { ...NOTHING, ...values },
  });

  it('has points before its own ones, in its gaps, and none after the end', () => {
    const history = new History();
    for (const [from, to, rate] of [
      [10, 12, 1],
      [12, 14, undefined],
      [16, 18, 2],
    ] as const) {
      history.add(from * 1_000, to * 1_000, { ...NOTHING, tx: rate });
    }
    history.fill(
      [point(4_000, 8_000, { tx: 7 }), point(8_000, 17_000, { tx: 8 }), point(18_000, 30_000, { tx: 9 })],
      20_000,
    );
    const seconds = [...history.parts(['tx'], 22_000, 20_000, 20)];
    expect(seconds).toEqual([NaN, NaN, 7, 7, 7, 7, 8, 8, 1, 1, 8, 8, 8, 8, 2, 2, 9, 9, NaN, NaN]);
  });

  it('goes on with its own times', () => {
    const history = new History();
    history.fill([point(0, 5_000, { tx: 7 })], 3_000);
    history.add(3_000, 4_000, { ...NOTHING, tx: 1 });
    expect([...history.parts(['tx'], 4_000, 4_000, 4)]).toEqual([7, 7, 7, 1]);
  });

  it('has the sum of the rates of several fleets, and the percentiles of all their transfers', () => {
    // Four buckets for each power of two: those that end at 1 us and at 1,024 us.
    const counts = (offset: number, ...counts: number[]) => ({ scale: 2, zeroCount: 0, offset, counts });
    const pasts = [
      {
        fleet: [point(590_000, 595_000, { tx: 1, p99: 5 }), point(595_000, 600_000, { tx: 2, errors: 1 })],
        transferTimes: [{ fromMs: 590_000, toMs: 595_000, counts: counts(-1, 100) }],
      },
      {
        fleet: [point(592_500, 597_500, { tx: 10, p99: 9, tooLow: 1 })],
        transferTimes: [{ fromMs: 592_500, toMs: 597_500, counts: counts(39, 24) }],
      },
    ];
    const sums = sumOfFleets(pasts, 600_000).map(({ fromMs, toMs, values: { tx, errors, p50, p90, p99, tooLow } }) => {
      return [fromMs, toMs, tx, errors, p50, p90, p99, tooLow];
    });
    // In the first step 12 of 112 transfers are slow, in the second all 12.
    expect(sums).toEqual([
      [590_000, 595_000, 11, undefined, 1, 943, 943, 1],
      [595_000, 600_000, 12, 1, 943, 943, 943, 1],
    ]);
  });

  it('has the percentiles of transfers that belong to two steps', () => {
    const counts = { scale: 2, zeroCount: 0, offset: -1, counts: [1, 0, 0, 0, 0, 1] };
    const fleet = [point(592_500, 597_500, { tx: 1 })];
    const pasts = [{ fleet, transferTimes: [{ fromMs: 592_500, toMs: 597_500, counts }] }];
    expect(sumOfFleets(pasts, 600_000).map(({ values: { p50 } }) => p50)).toEqual([1, 1]);
  });
});
