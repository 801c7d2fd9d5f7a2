import { describe, expect, it } from 'vitest';
import { postingOf, sizeFiguresOf } from '../../../src/view/sizes/size-figures.js';
import { classesOf, type Transfer } from './seven-agents.js';

const transfers = (count: number, transfer: Transfer): Transfer[] => Array<Transfer>(count).fill(transfer);

describe('the figures of a class', () => {
  it('are those of its transfers', () => {
    const classes = classesOf([
      ...transfers(15, { bytes: 3000, us: 4, postUs: 2 }),
      ...transfers(4, { bytes: 4096, us: 8, postUs: 3 }),
      { bytes: 4096, us: 11 },
    ]);
    expect(sizeFiguresOf(classes)).toEqual([
      {
        upToBytes: 4096,
        transfers: 20,
        bytes: 65_480n,
        meanBytes: 3274,
        p50Us: 4,
        p90Us: 8,
        p99Us: 11,
        maxUs: 11,
        postP50Us: 2,
        postTransfers: 19,
        bytesPerSecond: (65_480 / 103) * 1e6,
        few: false,
      },
    ]);
  });

  it('say that their transfers are few, below twenty', () => {
    expect(sizeFiguresOf(classesOf(transfers(19, { bytes: 1, us: 1 })))[0]!.few).toBe(true);
    expect(sizeFiguresOf(classesOf(transfers(20, { bytes: 1, us: 1 })))[0]!.few).toBe(false);
  });

  it('lack what no transfer has', () => {
    const [figures] = sizeFiguresOf(classesOf(transfers(2, { bytes: 10, us: 0 })));
    expect(figures).toMatchObject({ transfers: 2, p50Us: 0, postTransfers: 0 });
    expect(figures).not.toHaveProperty('postP50Us');
    expect(figures).not.toHaveProperty('bytesPerSecond');
  });

  it('rest on the times of a histogram that began later than its class', () => {
    const [early] = classesOf(transfers(100, { bytes: 1000, us: 50 }));
    const [late] = classesOf(transfers(10, { bytes: 1000, us: 5 }));
    const [none] = classesOf([]);
    expect(none).toBeUndefined();
    expect(sizeFiguresOf([{ ...early!, duration: late!.duration }])[0]).toMatchObject({
      transfers: 100,
      p50Us: 5,
      bytesPerSecond: 200e6,
      few: true,
    });
    const empty = { sum: 0n, exponential: { scale: 3, zeroCount: 0, offset: 0, counts: [] } };
    expect(sizeFiguresOf([{ ...early!, duration: empty }])).toEqual([]);
  });
});

describe('posting', () => {
  it('is compared with the transfers whose posts are known', () => {
    const known = transfers(10, { bytes: 1000, us: 10, postUs: 3 });
    expect(postingOf(classesOf(known))).toEqual({ p50Us: 3, share: 0.3 });
    // Half of a class, and none of another one.
    const half = [...known, ...transfers(10, { bytes: 1000, us: 10 }), ...transfers(9, { bytes: 9000, us: 999 })];
    expect(postingOf(classesOf(half))).toEqual({ p50Us: 3, share: 0.3 });
    const several = [...known, ...transfers(11, { bytes: 9000, us: 100, postUs: 70 })];
    expect(postingOf(classesOf(several))).toEqual({ p50Us: expect.closeTo(70, -1) as number, share: 800 / 1200 });
  });

  it('is unknown without posts', () => {
    expect(postingOf([])).toBeUndefined();
    expect(postingOf(classesOf(transfers(10, { bytes: 1000, us: 10 })))).toBeUndefined();
    expect(postingOf(classesOf(transfers(2, { bytes: 1, us: 0, postUs: 0 })))).toEqual({ p50Us: 0 });
  });
});
