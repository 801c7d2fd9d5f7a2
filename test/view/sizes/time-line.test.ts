/** The model of time by size: what was put into transfers, and what it must not claim. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClassMedian, classMedianOf } from '../../../src/view/sizes/class-median.js';
import { timeOn } from '../../../src/view/sizes/fitted-line.js';
import { type TimeLine, timeLineOf, timeLineThrough, type TimeModel } from '../../../src/view/sizes/time-line.js';
import { type Behaviour, classesOf, SEVEN_AGENTS, type Transfer, transfersOf } from './seven-agents.js';

const KIB = 1024;
const MIB = 1024 ** 2;
/** Fixed numbers of fixed noise. A minute of the seven agents has about 2500 transfers. */
const SEEDS = Array.from({ length: 10 }, (_, i) => 7919 * (i + 1));

function modelOf(behaviour: Behaviour, seed: number, count = 2500): TimeModel {
  return timeLineOf(classesOf(transfersOf(behaviour, count, seed)));
}

function lineOf(model: TimeModel): TimeLine {
  if (model.kind !== 'line') throw new Error(`no line: ${JSON.stringify(model)}`);
  return model;
}

function expectWithinTenPercent(value: number | undefined, put: number): void {
  expect(value).toBeGreaterThan(0.9 * put);
  expect(value).toBeLessThan(1.1 * put);
}

/** Medians without any error. */
function mediansOf(times: Readonly<Record<number, number>>): ClassMedian[] {
  return Object.entries(times).map(([bytes, medianUs]) => ({
    upToBytes: Number(bytes),
    meanBytes: Number(bytes),
    medianUs,
    chance: 0,
  }));
}

describe('the seven agents of the review', () => {
  it.each([
    ['normal-0', 18, 20e9],
    ['normal-1', 18, 20e9],
    ['normal-2', 18, 20e9],
    ['slow-link', 18, 0.5e9],
    ['slow-post', 515, 20e9],
  ] as const)('%s: base and rate as put in', (name, baseUs, bytesPerSecond) => {
    for (const seed of SEEDS) {
      const line = lineOf(modelOf(SEVEN_AGENTS[name], seed));
      expectWithinTenPercent(line.baseUs, baseUs);
      expectWithinTenPercent(line.bytesPerSecond, bytesPerSecond);
      expect(line).toMatchObject({ classes: 5, outlying: [] });
    }
  });

  it('big-slow: bends at 1 MiB', () => {
    for (const seed of SEEDS) expect(modelOf(SEVEN_AGENTS['big-slow'], seed)).toEqual({ kind: 'bends', atBytes: MIB });
  });

  it('tiny: too few sizes', () => {
    for (const seed of SEEDS) expect(modelOf(SEVEN_AGENTS.tiny, seed)).toEqual({ kind: 'none', reason: 'few-classes' });
  });
});

describe('a line', () => {
  it('rests on medians at the mean bytes of classes, not at their bounds', () => {
    const sizes = [33 * KIB, 140 * KIB, 600 * KIB, 2100 * KIB, 8400 * KIB];
    for (const seed of SEEDS) {
      const line = lineOf(modelOf({ ...SEVEN_AGENTS['slow-link'], sizes, baseUs: 200 }, seed));
      expectWithinTenPercent(line.baseUs, 203);
      expectWithinTenPercent(line.bytesPerSecond, 0.5e9);
    }
  });

  it('is not moved by one class that is slower, and names it', () => {
    const transfers = transfersOf(SEVEN_AGENTS['normal-0'], 2500, 1);
    for (const outlying of [64 * KIB, 256 * KIB, MIB]) {
      const slower = transfers.map((one) => (one.bytes === outlying ? { ...one, us: one.us * 5 } : one));
      const line = lineOf(timeLineOf(classesOf(slower)));
      expectWithinTenPercent(line.baseUs, 18);
      expectWithinTenPercent(line.bytesPerSecond, 20e9);
      expect(line).toMatchObject({ classes: 4, outlying: [outlying] });
    }
  });

  it('is as far from a class that moves away as from one that moves further away', () => {
    const off = (us: number) =>
      lineOf(timeLineThrough(mediansOf({ 1e3: 11, 1e4: 20, 1e5: us, 1e6: 1010, 1e7: 10_010 })));
    expect(off(1000)).toEqual(off(1e9));
  });

  it('lies in the middle of all medians, by their relative distances', () => {
    const medians = mediansOf({ 1e3: 10, 1e4: 22, 1e5: 104, 1e6: 1070, 1e7: 9600 });
    const { fitted } = lineOf(timeLineThrough(medians));
    const distances = medians.map(({ meanBytes, medianUs }) => medianUs / timeOn(fitted, meanBytes) - 1);
    expect(distances.reduce((sum, distance) => sum + distance, 0)).toBeCloseTo(0, 5);
  });

  it('follows a median less, and lets it be further off, the more it owes to chance', () => {
    const [first, ...others] = mediansOf({ 1e3: 11, 1e4: 20, 1e5: 110, 1e6: 1010, 1e7: 10_010 });
    const baseWith = (factor: number, chance: number) =>
      lineOf(timeLineThrough([{ ...first!, medianUs: first!.medianUs * factor, chance }, ...others])).fitted.baseUs;
    expect(baseWith(1.2, 0.1)).toBeLessThan(10.85);
    expect(baseWith(1.2, 0)).toBeGreaterThan(11);
    expect(baseWith(1.5, 0.12)).toBeLessThan(12);
    expect(() => baseWith(1.5, 0)).toThrow('bends');
  });

  it('needs three classes with twenty transfers each', () => {
    const at = (bytes: number, us: number, count: number) => Array<Transfer>(count).fill({ bytes, us });
    const two = [...at(4 * KIB, 20, 99), ...at(MIB, 1068, 99)];
    expect(timeLineOf(classesOf([...two, ...at(64 * KIB, 85, 19)]))).toEqual({ kind: 'none', reason: 'few-classes' });
    expect(timeLineOf(classesOf([...two, ...at(64 * KIB, 85, 20)])).kind).toBe('line');
    expect(timeLineOf([])).toEqual({ kind: 'none', reason: 'few-classes' });
  });

  it('needs sizes a factor of 16 apart', () => {
    const narrow = { 1e5: 110, 4e5: 410, 15.9e5: 1600 };
    expect(timeLineThrough(mediansOf(narrow))).toEqual({ kind: 'none', reason: 'narrow' });
    expect(timeLineThrough(mediansOf({ ...narrow, 16e5: 1610 })).kind).toBe('line');
  });

  it('has no rate if times do not grow with the bytes', () => {
    // Asked late: each transfer seems to take about 5 ms.
    for (const seed of SEEDS) {
      const line = lineOf(modelOf({ ...SEVEN_AGENTS['normal-0'], baseUs: 5000 }, seed));
      expectWithinTenPercent(line.baseUs, 5010);
      expect(line).not.toHaveProperty('bytesPerSecond');
    }
  });

  it('has no base if the bytes take nearly all of the time', () => {
    const sizes = [MIB, 8 * MIB, 64 * MIB];
    for (const seed of SEEDS) {
      const line = lineOf(modelOf({ ...SEVEN_AGENTS['slow-link'], sizes }, seed));
      expectWithinTenPercent(line.bytesPerSecond, 0.5e9);
      expect(line).not.toHaveProperty('baseUs');
    }
  });

  it('includes sizes over 1 GiB and times below a microsecond', () => {
    const sizes = [100, MIB, 2 ** 30, 5e9];
    const line = lineOf(
      timeLineOf(classesOf(sizes.flatMap((bytes) => Array<Transfer>(30).fill({ bytes, us: Math.floor(bytes / 1e4) })))),
    );
    expectWithinTenPercent(line.bytesPerSecond, 1e10);
    expect(
      lineOf(timeLineOf(classesOf([1, 2000, 1e6].flatMap((bytes) => Array<Transfer>(30).fill({ bytes, us: 0 })))))
        .baseUs,
    ).toBe(0.5);
  });
});

describe('medians that are on no line', () => {
  it('bend at the first class of the slower sizes, also at the last one and by a factor of two', () => {
    const bend = (behaviour: Partial<Behaviour>) => modelOf({ ...SEVEN_AGENTS['normal-0'], ...behaviour }, 1);
    const from = (first: number, bytesPerSecond: number) => ({
      bytesPerSecond: (bytes: number) => (bytes >= first ? bytesPerSecond : 20e9),
    });
    expect(bend(from(8 * MIB, 1e9))).toEqual({ kind: 'bends', atBytes: 8 * MIB });
    expect(bend(from(256 * KIB, 0.5e9))).toEqual({ kind: 'bends', atBytes: 256 * KIB });
    expect(bend(from(MIB, 8e9))).toEqual({ kind: 'bends', atBytes: MIB });
  });

  it('bend where larger sizes are faster', () => {
    expect(timeLineThrough(mediansOf({ 1e3: 20, 1e4: 110, 1e5: 1010, 1e6: 1000, 1e7: 1900 }))).toEqual({
      kind: 'bends',
      atBytes: 1e6,
    });
  });

  it('bend at no number at the class without a bound: JSON has no infinity', () => {
    const medians = mediansOf({ 1e6: 20, 1e7: 110, 1e8: 1010, 4e9: 400_000 });
    const model = timeLineThrough(medians.map((one) => (one.meanBytes < 1e9 ? one : { ...one, upToBytes: Infinity })));
    expect(model).toEqual({ kind: 'bends', atBytes: null });
    expect(JSON.parse(JSON.stringify(model))).toEqual(model);
  });

  it('bend where the lower line ends, not where it is nearly on the next class', () => {
    const bend = (us: number) => timeLineThrough(mediansOf({ 1e3: 11, 1e4: 20, 1e5: us, 1e6: 400 }));
    expect(bend(150)).toEqual({ kind: 'bends', atBytes: 1e5 });
    expect(bend(110)).toEqual({ kind: 'bends', atBytes: 1e6 });
  });

  it('are no line with outliers if two of five are slower, or the smallest one', () => {
    const two = mediansOf({ 1e3: 11, 1e4: 60, 1e5: 500, 1e6: 1010, 1e7: 10_010 });
    expect(timeLineThrough(two)).toEqual({ kind: 'bends', atBytes: 1e6 });
    const smallest = mediansOf({ 1e3: 100, 1e4: 20, 1e5: 110, 1e6: 1010, 1e7: 10_010 });
    expect(timeLineThrough(smallest)).toEqual({ kind: 'bends', atBytes: 1e4 });
  });

  it('scatter if two lines do not have them either', () => {
    expect(timeLineThrough(mediansOf({ 1e3: 20, 1e4: 300, 1e5: 10, 1e6: 2000, 1e7: 90 }))).toEqual({
      kind: 'none',
      reason: 'scattered',
    });
  });
});

describe('the median of a class', () => {
  it('owes to chance what its ranks leave open', () => {
    const spread = Array.from({ length: 400 }, (_, i) => ({ bytes: 1000, us: 1001 + i }));
    const { medianUs, chance } = classMedianOf(classesOf(spread)[0]!);
    expect(medianUs).toBeGreaterThan(1180);
    expect(medianUs).toBeLessThan(1220);
    // Between the ranks 180 and 220.
    expect(chance).toBeCloseTo(Math.log(1220 / 1180) / 4, 2.5);
    const [alike] = classesOf(Array<Transfer>(20).fill({ bytes: 1000, us: 9 }));
    expect(classMedianOf(alike!)).toEqual({ upToBytes: 1024, meanBytes: 1000, medianUs: 9, chance: 0 });
    const mostlyZero = Array.from({ length: 25 }, (_, i) => ({ bytes: 1000, us: i < 15 ? 0 : 1 }));
    expect(classMedianOf(classesOf(mostlyZero)[0]!).medianUs).toBe(0.5);
  });
});

describe('any line', () => {
  const anyLine = fc.record({
    baseUs: fc.double({ min: 1, max: 1e6, noNaN: true }),
    bytesPerSecond: fc.double({ min: 1e6, max: 1e12, noNaN: true }),
    sizes: fc.uniqueArray(fc.integer({ min: 10, max: 33 }), { minLength: 3, maxLength: 21 }),
    chance: fc.double({ min: 0, max: 0.1, noNaN: true }),
  });
  const onLine = ({
    baseUs,
    bytesPerSecond,
    sizes,
    chance,
  }: {
    baseUs: number;
    bytesPerSecond: number;
    sizes: readonly number[];
    chance: number;
  }) =>
    sizes
      .slice()
      .sort((a, b) => a - b)
      .map((power) => ({
        upToBytes: 2 ** power,
        meanBytes: 2 ** power,
        medianUs: baseUs + (2 ** power / bytesPerSecond) * 1e6,
        chance,
      }));

  it('is found exactly, as far as it is known', () => {
    let [bases, rates] = [0, 0];
    fc.assert(
      fc.property(anyLine, (put) => {
        const model = timeLineThrough(onLine(put));
        if (Math.max(...put.sizes) - Math.min(...put.sizes) < 4)
          expect(model).toEqual({ kind: 'none', reason: 'narrow' });
        if (model.kind === 'none') return;
        const line = lineOf(model);
        if (line.baseUs !== undefined) expect(line.baseUs / put.baseUs).toBeCloseTo(1, 6);
        if (line.bytesPerSecond !== undefined) expect(line.bytesPerSecond / put.bytesPerSecond).toBeCloseTo(1, 6);
        bases += line.baseUs === undefined ? 0 : 1;
        rates += line.bytesPerSecond === undefined ? 0 : 1;
      }),
    );
    expect(bases).toBeGreaterThan(20);
    expect(rates).toBeGreaterThan(20);
  });

  it('does not depend on the unit of time, and never falls with the bytes', () => {
    fc.assert(
      fc.property(
        anyLine,
        fc.array(fc.double({ min: 0.5, max: 2, noNaN: true }), { minLength: 21, maxLength: 21 }),
        (put, noise) => {
          const medians = onLine(put).map((median, i) => ({ ...median, medianUs: median.medianUs * noise[i]! }));
          const model = timeLineThrough(medians);
          const scaled = timeLineThrough(medians.map((median) => ({ ...median, medianUs: median.medianUs * 1024 })));
          if (model.kind !== 'line') {
            expect(scaled).toEqual(model);
            return;
          }
          const line = lineOf(scaled);
          expect(line.baseUs === undefined).toBe(model.baseUs === undefined);
          expect(line.fitted.baseUs).toBeCloseTo(model.fitted.baseUs * 1024, 3);
          expect(line.fitted.usPerByte).toBeCloseTo(model.fitted.usPerByte * 1024, 9);
          expect(timeOn(model.fitted, 1e6)).toBeGreaterThanOrEqual(timeOn(model.fitted, 1e3));
          expect(timeOn(model.fitted, 1)).toBeGreaterThan(0);
        },
      ),
    );
  });
});
