import { describe, expect, it } from 'vitest';
import {
  againstText,
  baseText,
  fewText,
  largestRateText,
  multipleText,
  sizeClassText,
  timeLineText,
  timeModelText,
} from '../../../src/view/sizes/size-words.js';
import type { TimeLine, TimeModel } from '../../../src/view/sizes/time-line.js';

function line(parts: Pick<TimeLine, 'baseUs' | 'bytesPerSecond'>): TimeLine {
  return { kind: 'line', classes: 5, outlying: [], fitted: { baseUs: 0, usPerByte: 1 }, ...parts };
}

describe('words about a line', () => {
  it.each([
    [{ baseUs: 19.04, bytesPerSecond: 0.48e9 }, '19 µs + size ÷ 480 MB/s', '19 µs', '480 MB/s'],
    [{ baseUs: 3100, bytesPerSecond: 19.13e9 }, '3.10 ms + size ÷ 19.1 GB/s', '3.10 ms', '19.1 GB/s'],
    [{ bytesPerSecond: 0.48e9 }, 'size ÷ 480 MB/s', 'too short to tell', '480 MB/s'],
    [{ baseUs: 5010 }, '5.01 ms at any size', '5.01 ms', 'same time at any size'],
  ])('%o', (parts, text, base, rate) => {
    expect(timeLineText(line(parts))).toBe(text);
    expect(timeModelText(line(parts))).toBe(`${text}, as the application saw it`);
    expect(timeModelText(line(parts), 0.41)).toBe(`${text} (41% of its ports' rate), as the application saw it`);
    expect(baseText(line(parts))).toBe(base);
    expect(largestRateText(line(parts))).toBe(rate);
  });

  it.each<[TimeModel, string]>([
    [{ kind: 'bends', atBytes: 1024 ** 2 }, 'no line: bends at 1 MiB'],
    [{ kind: 'bends', atBytes: null }, 'no line: bends over 1 GiB'],
    [{ kind: 'none', reason: 'few-classes' }, 'too few sizes'],
    [{ kind: 'none', reason: 'narrow' }, 'sizes too close together'],
    [{ kind: 'none', reason: 'scattered' }, 'no line fits'],
  ])('say why there is none: %o', (model, text) => {
    expect(largestRateText(model)).toBe(text);
    expect(timeModelText(model)).toBe(text);
    expect(baseText(model)).toBe('');
  });
});

describe('words about a class', () => {
  it('name its sizes', () => {
    expect([1024, 65_536, 2 ** 30, Infinity].map(sizeClassText)).toEqual(['1 KiB', '64 KiB', '1 GiB', 'over 1 GiB']);
  });

  it('compare it with a reference', () => {
    const multiples = [1, 1.49, 0.67, 1.5, 7.04, 9.94, 9.96, 38.4, 1234, 0.42, 0.04];
    const texts = ['=', '=', '=', '×1.5', '×7.0', '×9.9', '×10', '×38', '×1,234', '×0.4', '×<0.1'];
    expect(multiples.map(multipleText)).toEqual(texts);
    expect(againstText(7.04, 'its peers')).toBe('7.0 times its peers');
    expect(againstText(1.1, 'its peers')).toBe('as its peers');
  });

  it('say that its transfers are few', () => {
    expect(fewText({ transfers: 1 })).toBe('1 transfer, fewer than 20');
    expect(fewText({ transfers: 19 })).toBe('19 transfers, fewer than 20');
  });
});
