/** Axes of the page's charts: round steps, tops that hold still, whole decades, round times. */
import { describe, expect, it } from 'vitest';
import { clockOfAxis, timeTicks } from '../../src/page/browser/charts/time-axis.js';
import { byteUnit, countScale, linearScale, SteadyTop, timeScale } from '../../src/page/browser/charts/scales.js';

const texts = ({ ticks }: { ticks: readonly { text: string }[] }) => ticks.map(({ text }) => text);

describe('an axis of the page', () => {
  it.each([
    [36.2e9, ['0', '10', '20', '30', '40'], 'GB'],
    [1.49e12, ['0', '0.5', '1.0', '1.5'], 'TB'],
    [9.1e6, ['0', '2.5', '5.0', '7.5', '10.0'], 'MB'],
    [1000, ['0', '0.25', '0.50', '0.75', '1.00'], 'kB'],
  ])('has ticks of 1, 2, 2.5 or 5 up to a top above %d bytes', (most, expected, unit) => {
    const top = new SteadyTop().next(most, 1000);
    const scale = linearScale(top, byteUnit(top));
    expect(top).toBeGreaterThanOrEqual(most);
    expect([texts(scale), scale.unit]).toEqual([expected, unit]);
    expect(scale.ticks.at(-1)!.at).toBeCloseTo(scale.max);
  });

  it('shortens counts, and divides no single event', () => {
    expect(texts(countScale(new SteadyTop().next(11_149, 1)))).toEqual(['0', '5 k', '10 k', '15 k']);
    expect(texts(countScale(new SteadyTop().next(0, 1)))).toEqual(['0', '1']);
  });

  it('keeps its top until the maximum is under 60 % of it', () => {
    const top = new SteadyTop();
    expect([39, 38, 25, 23, 41].map((most) => top.next(most, 1))).toEqual([40, 40, 40, 30, 60]);
  });

  it('has whole decades of time', () => {
    expect(texts(timeScale(34, 4100))).toEqual(['10 µs', '100 µs', '1 ms', '10 ms']);
    expect(timeScale(0, 0)).toMatchObject({ min: 1, max: 100 });
    expect(timeScale(1000, 1000)).toMatchObject({ min: 1000, max: 100_000 });
  });

  it('has round times, and seconds only for a short span', () => {
    const from = Date.UTC(2026, 0, 1, 12, 0, 7) / 1000;
    expect(timeTicks(from, from + 300, 8).map((at) => at % 60)).toEqual([0, 0, 0, 0, 0]);
    expect(timeTicks(from, from + 60, 4).map((at) => (at - from) % 15)).toEqual([8, 8, 8, 8]);
    expect(clockOfAxis(timeTicks(from, from + 300, 3))[0]).toMatch(/^\d\d:\d\d$/);
    expect(clockOfAxis(timeTicks(from, from + 60, 3))[0]).toMatch(/^\d\d:\d\d:\d\d$/);
  });
});
