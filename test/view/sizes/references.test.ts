import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { against, type ClassReference, fastestQuarterOf, referenceLineOf } from '../../../src/view/sizes/references.js';
import { type SizeFigures, sizeFiguresOf } from '../../../src/view/sizes/size-figures.js';
import { multipleText } from '../../../src/view/sizes/size-words.js';
import { classesOf, SEVEN_AGENTS, type Transfer, transfersOf } from './seven-agents.js';

const KIB = 1024;

function figuresOf(bytes: number, us: number, count = 20): readonly SizeFigures[] {
  return sizeFiguresOf(classesOf(Array<Transfer>(count).fill({ bytes, us })));
}

function medians(references: readonly ClassReference[] | undefined): number[] {
  return references!.map(({ p50Us }) => p50Us);
}

/** Two medians may each be half a bucket off, and half a microsecond. */
function expectNear(value: number, put: number): void {
  expect(value / put).toBeGreaterThan(0.88);
  expect(value / put).toBeLessThan(1.12);
}

describe('the fastest quarter', () => {
  it('is that of the other agents', () => {
    const figures = fc.array(fc.integer({ min: 0, max: 11 }), { maxLength: 12 });
    fc.assert(
      fc.property(figures, (times) => {
        const agents = new Map(times.map((us, agent) => [agent, figuresOf(1000, us)]));
        const quarters = fastestQuarterOf(agents);
        for (const agent of agents.keys()) {
          const others = times.filter((_, other) => other !== agent).sort((a, b) => a - b);
          const quarter = others.find((us) => others.filter((other) => other <= us).length >= others.length / 4);
          expect(medians(quarters.get(agent))).toEqual(others.length < 3 ? [] : [quarter]);
        }
      }),
    );
  });

  it('leaves out agents with few transfers of the class, and compares them as well', () => {
    const three = [1, 2, 3].map((agent) => [`${agent}`, figuresOf(1000, 10)] as const);
    const quarters = fastestQuarterOf(new Map([...three, ['few', figuresOf(1000, 1, 19)], ['none', []]]));
    expect(medians(quarters.get('1'))).toEqual([]);
    expect(medians(quarters.get('few'))).toEqual([10]);
    expect(medians(quarters.get('none'))).toEqual([10]);
  });

  it('is that of the healthy agents where three of six are slow', () => {
    const put = Object.entries(SEVEN_AGENTS);
    const figures = new Map(
      put.map(([name, behaviour], i) => [name, sizeFiguresOf(classesOf(transfersOf(behaviour, 2500, 31 * (i + 1))))]),
    );
    const quarters = fastestQuarterOf(figures);
    const texts = (name: string): string[] =>
      against(figures.get(name)!, quarters.get(name)!).map(({ multiple }) => multipleText(multiple));
    for (const name of ['normal-0', 'normal-1', 'normal-2']) expect(texts(name)).toEqual(['=', '=', '=', '=', '=']);
    expect(texts('tiny')).toEqual(['=']);
    const expectMultiples = (name: string, put: readonly number[]): void => {
      const multiples = against(figures.get(name)!, quarters.get(name)!).map(({ multiple }) => multiple);
      expect(multiples).toHaveLength(put.length);
      for (const [i, multiple] of multiples.entries()) expectNear(multiple, put[i]!);
    };
    // Times in microseconds that were put in, of 4 KiB, 64 KiB, 256 KiB, 1 MiB and 8 MiB.
    expectMultiples('slow-link', [26.2 / 18.2, 149 / 21.3, 542 / 31.1, 2115 / 70.4, 16_795 / 437]);
    expectMultiples('big-slow', [1, 1, 1, 1067 / 70.4, 8407 / 437]);
    expectMultiples('slow-post', [515 / 18.2, 518 / 21.3, 528 / 31.1, 567 / 70.4, 934 / 437]);
    const line = referenceLineOf(quarters.get('slow-link')!);
    if (line.kind !== 'line') throw new Error('no line');
    expectNear(line.baseUs!, 18);
    expectNear(line.bytesPerSecond!, 20e9);
  });
});

describe('the same agent earlier', () => {
  it('is compared class by class', () => {
    const earlier = [...figuresOf(1000, 5), ...figuresOf(2000, 40), ...figuresOf(4000, 5, 19)];
    const now = [...figuresOf(1000, 10), ...figuresOf(4000, 9), ...figuresOf(9000, 99)];
    expect(against(now, earlier)).toEqual([{ upToBytes: 1024, multiple: 2, referenceUs: 5 }]);
  });

  it('may take longer for larger transfers of the class, and is no faster for smaller ones', () => {
    const smaller = figuresOf(300 * KIB, 300);
    const larger = figuresOf(500 * KIB, 500);
    const [up] = against(larger, smaller);
    const [down] = against(smaller, larger);
    expect(up!.multiple).toBeCloseTo(1, 1);
    expect(up!.referenceUs).toBeCloseTo((smaller[0]!.p50Us * 5) / 3, 6);
    expect(down!.referenceUs).toBe(larger[0]!.p50Us);
  });

  it('has half a microsecond in place of times below one', () => {
    const [multiple] = against(figuresOf(1000, 5), figuresOf(1000, 0));
    expect(multiple).toEqual({ upToBytes: 1024, multiple: 10, referenceUs: 0.5 });
    expect(against(figuresOf(1000, 0), figuresOf(1000, 5))[0]!.multiple).toBe(0.1);
  });
});
