/** Size classes of a window, and of several agents together, against those that a program counts of the same transfers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SizeClassTally } from '../../../src/ground/tally.js';
import { classesSince, classesSum } from '../../../src/view/sizes/class-window.js';
import { comparable } from '../../support/exponential.js';
import { classesOf, type Transfer } from './seven-agents.js';

const anyTransfer = fc.record(
  {
    bytes: fc.oneof(
      fc.integer({ min: 0, max: 20_000 }),
      fc.nat(34).map((power) => 2 ** power),
    ),
    us: fc.oneof(fc.nat(20), fc.nat(1e7)),
    postUs: fc.nat(1000),
  },
  { requiredKeys: ['bytes', 'us'] },
);
const anyTransfers = fc.array(anyTransfer, { maxLength: 30 });

function alike(classes: readonly SizeClassTally[]) {
  const of = ({ sum, exponential }: SizeClassTally['post']) => ({ sum, exponential: comparable(exponential) });
  return classes.map((one) => ({ ...one, duration: of(one.duration), post: of(one.post) }));
}

function oneClass(transfers: readonly Transfer[]): SizeClassTally {
  return classesOf(transfers)[0]!;
}

describe('the classes of a window', () => {
  it('have exactly the transfers since its begin', () => {
    fc.assert(
      fc.property(anyTransfers, anyTransfers, (before, since) => {
        const window = classesSince(classesOf(before), classesOf([...before, ...since]));
        expect(alike(window)).toEqual(alike(classesOf(since)));
      }),
    );
  });

  it('have all transfers of a tally that is new', () => {
    const now = classesOf([{ bytes: 5000, us: 12 }]);
    expect(classesSince(undefined, now)).toEqual(now);
  });

  it('have all transfers of a tally that began anew, in all of its classes', () => {
    const before = classesOf([...Array<Transfer>(9).fill({ bytes: 1000, us: 5 }), { bytes: 5000, us: 12 }]);
    const fewer = classesOf([
      { bytes: 1000, us: 5 },
      { bytes: 5000, us: 12 },
      { bytes: 5000, us: 14 },
    ]);
    expect(classesSince(before, fewer)).toEqual(fewer);
    const without = classesOf(Array<Transfer>(3).fill({ bytes: 5000, us: 12 }));
    expect(classesSince(before, without)).toEqual(without);
    // As many transfers, of fewer bytes.
    const smaller = classesOf([...Array<Transfer>(9).fill({ bytes: 10, us: 5 }), { bytes: 5000, us: 12 }]);
    expect(classesSince(before, smaller)).toEqual(smaller);
  });

  it('take the times of a histogram that began anew without its class', () => {
    const before = oneClass(Array<Transfer>(9).fill({ bytes: 1000, us: 5, postUs: 1 }));
    const grown = oneClass(Array<Transfer>(12).fill({ bytes: 1000, us: 5, postUs: 1 }));
    const anew = oneClass(Array<Transfer>(2).fill({ bytes: 1000, us: 300 }));
    const [window] = classesSince([before], [{ ...grown, duration: anew.duration }]);
    expect(window).toMatchObject({ count: 3, bytes: 3000n, duration: { sum: 600n }, post: { sum: 3n } });
    expect(window!.duration.exponential).toEqual(anew.duration.exponential);
    // All in the same bucket as before.
    const slow = oneClass(Array<Transfer>(9).fill({ bytes: 1000, us: 107 }));
    const alikeAnew = oneClass(Array<Transfer>(9).fill({ bytes: 1000, us: 99 }));
    expect(classesSince([slow], [{ ...slow, count: 18, duration: alikeAnew.duration }])).toMatchObject([
      { count: 9, duration: { sum: 891n } },
    ]);
    // Its sum is larger than before, as the first of its new times are long.
    const longer = oneClass(Array<Transfer>(2).fill({ bytes: 1000, us: 3 }));
    const [shorter] = classesSince([before], [{ ...grown, duration: { ...longer.duration, sum: 46n } }]);
    expect(shorter!.duration).toEqual({ ...longer.duration, sum: 46n });
  });
});

describe('the classes of several agents', () => {
  it('are those of all their transfers, ascending', () => {
    fc.assert(
      fc.property(fc.array(anyTransfers, { maxLength: 4 }), (agents) => {
        expect(alike(classesSum(agents.map(classesOf)))).toEqual(alike(classesOf(agents.flat())));
      }),
    );
  });
});
