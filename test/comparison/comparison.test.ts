import { describe, expect, it } from 'vitest';
import { type ClassComparison, type ComparedRun, compareRuns } from '../../src/comparison/comparison.js';
import { classesAbove, verdictText } from '../../src/comparison/comparison-text.js';
import { randomOf } from '../view/sizes/seven-agents.js';
import { evenRun, runOf } from './runs.js';

function only(a: readonly ComparedRun[], b: readonly ComparedRun[]): ClassComparison {
  const { classes } = compareRuns(a, b);
  expect(classes).toHaveLength(1);
  return classes[0]!;
}

/** Times spread by a factor of two around 100 us. */
function spread(next: () => number): number {
  return 100 * 2 ** (next() + next() - 1);
}

/** Each slice has a pace of its own: transfers within it depend on each other. */
function unevenRun(next: () => number, beginMs = 0): ComparedRun {
  const paces = Array.from({ length: 8 }, () => 4 ** (next() + next() - 1));
  return evenRun(400, 8, (slice) => paces[slice]! * spread(next), beginMs);
}

const isCalled = ({ verdict }: ClassComparison): boolean => verdict === 'slower' || verdict === 'faster';

describe('one run of each', () => {
  it('calls 1.5 times as long at 500 transfers, in 99 of 100 pairs, and none of equal pairs', () => {
    let [found, wrong] = [0, 0];
    for (let seed = 0; seed < 100; seed++) {
      const next = randomOf(seed);
      const [a, b, slow] = [1, 1, 1.5].map((factor) => evenRun(500, 10, () => factor * spread(next)));
      if (only([a!], [slow!]).verdict === 'slower') found++;
      if (isCalled(only([a!], [b!]))) wrong++;
    }
    expect(wrong).toBe(0);
    expect(found).toBeGreaterThanOrEqual(99);
  });

  it('calls at most 1 % where slices differ from each other, which chance among independent transfers would call', () => {
    let wrong = 0;
    for (let seed = 0; seed < 300; seed++) {
      const next = randomOf(1000 + seed);
      if (isCalled(only([unevenRun(next)], [unevenRun(next)]))) wrong++;
    }
    expect(wrong).toBeLessThanOrEqual(3);
  });

  it('says how many transfers there were where it calls nothing', () => {
    const next = randomOf(3);
    const [a, b] = [240, 360].map((transfers) => evenRun(transfers, 8, () => spread(next)));
    expect(verdictText(only([a!], [b!]))).toBe('no difference that 240 transfers could show');
  });

  it('gives the multiple with its interval', () => {
    const next = randomOf(4);
    const [a, b] = [1, 3].map((factor) => evenRun(1000, 10, () => factor * spread(next)));
    const { p50: time, verdict } = only([a!], [b!]);
    expect(verdict).toBe('slower');
    expect(time!.low).toBeLessThan(3);
    expect(time!.high).toBeGreaterThan(3);
    expect(time!.high / time!.low).toBeLessThan(2.2);
    const [back] = compareRuns([b!], [a!]).classes;
    expect(back!.verdict).toBe('faster');
    expect(back!.p50!.multiple).toBeCloseTo(1 / time!.multiple, 9);
    expect(back!.p50!.low).toBeCloseTo(1 / time!.high, 9);
  });

  it('tells nothing by few transfers, whatever their times are', () => {
    const one = only([evenRun(8, 4, () => 10)], [evenRun(8, 4, () => 1000)]);
    expect(one.verdict).toBe('few');
    expect(verdictText(one)).toBe('too few to tell: 8 transfers');
  });

  it('takes all times of 0 µs for alike', () => {
    expect(only([evenRun(400, 8, () => 0)], [evenRun(400, 8, () => 0)])).toMatchObject({ verdict: 'alike' });
  });

  it('does not blame larger transfers of a class for their time', () => {
    const slices = (bytes: number, us: number) =>
      runOf(Array.from({ length: 8 }, () => Array.from({ length: 50 }, () => ({ bytes, us }))));
    expect(only([slices(4200, 100)], [slices(8100, 190)]).verdict).toBe('alike');
    expect(only([slices(8100, 100)], [slices(8100, 190)]).verdict).toBe('slower');
    expect(only([slices(8100, 190)], [slices(4200, 100)]).verdict).toBe('alike');
  });

  it('is not moved by a long first transfer, and gives its rate no verdict', () => {
    const next = randomOf(5);
    const cold = (first: number) => {
      let isFirst = true;
      return evenRun(500, 10, () => {
        const us = isFirst ? first : spread(next);
        isFirst = false;
        return us;
      });
    };
    const one = only([cold(100)], [cold(38e6)]);
    expect(one.verdict).toBe('alike');
    expect(one.rate!.low).toBeLessThan(1);
    expect(one.rate!.high).toBeGreaterThan(1);
  });

  it('allows for a rare long transfer in the rate of a side that had none', () => {
    const next = randomOf(9);
    let transfers = 0;
    const some = evenRun(500, 10, () => (transfers++ % 50 === 0 ? 1e5 : spread(next)));
    const one = only([some], [evenRun(500, 10, () => spread(next))]);
    expect(one.rate!.multiple).toBeGreaterThan(10);
    expect(one.rate!.low).toBeLessThan(1);
  });

  it('names classes that only one side has', () => {
    const a = runOf([[{ bytes: 1000, us: 5 }]]);
    const b = runOf([[{ bytes: 2 ** 31, us: 5 }]]);
    const { classes } = compareRuns([a], [b]);
    expect(classes.map((one) => [one.upToBytes, one.verdict, verdictText(one)])).toEqual([
      [1024, 'missing', 'only in A'],
      [null, 'missing', 'only in B'],
    ]);
    expect(compareRuns([runOf([])], [runOf([])]).classes).toEqual([]);
  });

  it('needs more for many classes: one of them would differ by chance', () => {
    const next = randomOf(6);
    const run = (classes: number) =>
      runOf(
        Array.from({ length: 8 }, () =>
          Array.from({ length: 40 * classes }, (_, i) => ({
            bytes: 1000 * 2 ** (i % classes),
            us: Math.round(spread(next)),
          })),
        ),
      );
    const width = (classes: number): number => {
      const { p50: time } = compareRuns([run(classes)], [run(classes)]).classes[0]!;
      return time!.high / time!.low;
    };
    expect(width(20)).toBeGreaterThan(1.1 * width(1));
  });
});

describe('several runs of each', () => {
  /** Each run has a pace of its own, by its number. */
  const runs = (paces: readonly number[], beginsMs: readonly number[], seed: number): ComparedRun[] => {
    const next = randomOf(seed);
    return paces.map((pace, i) => evenRun(500, 10, () => pace * spread(next), beginsMs[i]));
  };

  it('show smaller differences if the sides took turns', () => {
    const alike = [1, 1, 1, 1, 1];
    const longer = alike.map(() => 1.25);
    const early = [0, 1000, 2000, 3000, 4000];
    const inTurn = early.map((ms) => ms + 500);
    const late = early.map((ms) => ms + 9000);
    expect(only(runs(alike, early, 1), runs(longer, inTurn, 2)).verdict).toBe('slower');
    expect(compareRuns(runs(alike, early, 1), runs(longer, inTurn, 2)).turns).toBe(5);
    expect(only(runs(alike, early, 1), runs(longer, late, 2)).verdict).toBe('alike');
    expect(compareRuns(runs(alike, early, 1), runs(longer, late, 2)).turns).toBe(1);
  });

  it('call nothing where the runs of a side differ as much as the sides', () => {
    const early = [0, 1000, 2000];
    const late = [500, 1500, 2500];
    const one = only(runs([1, 2, 1.4], early, 1), runs([2.2, 1.3, 2], late, 2));
    expect(one.verdict).toBe('alike');
  });

  it('count together where a run has too few transfers for a median of its own', () => {
    const next = randomOf(7);
    const few = (seed: number) =>
      Array.from({ length: 30 }, (_, i) => evenRun(16, 4, () => 100 * seed * spread(next), i));
    expect(only(few(1), few(3))).toMatchObject({ verdict: 'slower', a: { transfers: 480 } });
  });
});

describe('noise that makes transfers longer', () => {
  /** In every other slice, as many transfers wait for the processor. */
  const busy = (next: () => number, factor: number, waiting: number) => {
    return evenRun(
      500,
      10,
      (slice) => factor * (slice % 2 === 0 && next() < waiting ? 3 + 30 * next() : 1) * spread(next),
    );
  };

  it('leaves the fast quarter of the transfers, which shows what the median does not', () => {
    const next = randomOf(10);
    const one = only([busy(next, 1, 0.7)], [busy(next, 1.6, 0.7)]);
    expect(one.p50!.low).toBeLessThan(1);
    expect(one).toMatchObject({ verdict: 'slower', by: 'p25' });
    expect(verdictText(one)).toMatch(/^1\.\d\d times as long \(1\.\d\d to \d\.\d\d\), by p25$/);
  });
});

it('fails a bound only by classes that are surely slower', () => {
  const next = randomOf(8);
  const [a, slow] = [1, 1.6].map((factor) => evenRun(1000, 10, () => factor * spread(next)));
  const few = evenRun(8, 4, () => 1000);
  const above = (b: ComparedRun, bound: number) => classesAbove(compareRuns([a!], [b]).classes, bound).length;
  expect([above(slow!, 1.2), above(slow!, 1.9), above(a!, 1), above(few, 1.2)]).toEqual([1, 0, 0, 0]);
});
