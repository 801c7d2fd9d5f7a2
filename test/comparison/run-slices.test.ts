import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exponentialCount } from '../../src/ground/exponential.js';
import { RunSlices } from '../../src/comparison/run-slices.js';
import { classesOf, type Transfer } from '../view/sizes/seven-agents.js';

const NONE = { classes: [], endedInPost: 0, flushSquares: 0n };

function agent(id: number, transfers: readonly Transfer[]) {
  return { id, timeBySize: { transmit: { ...NONE, classes: classesOf(transfers) }, receive: NONE } };
}

it('has every transfer once, in at most 32 slices of nearly equal length, whatever the number of samples is', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat(2)), { maxLength: 200 }), (samples) => {
      const slices = new RunSlices();
      const moved: Transfer[][] = [[], []];
      samples.forEach(([first, second], i) => {
        moved[0]!.push(...Array<Transfer>(first).fill({ bytes: 3000, us: 10 + i }));
        moved[1]!.push(...Array<Transfer>(second).fill({ bytes: 70_000, us: 500 }));
        // The second agent is gone from half of the samples.
        slices.take(i, i % 2 === 0 ? [agent(1, moved[0]!), agent(2, moved[1]!)] : [agent(1, moved[0]!)]);
      });
      slices.take(samples.length, [agent(1, moved[0]!), agent(2, moved[1]!)]);
      const { all } = slices;
      const total = (bound: number, of: 'transfers' | 'bytes' | 'totalUs') =>
        all.flatMap(({ tx }) => tx).reduce((sum, one) => sum + (one.upToBytes === bound ? one[of] : 0), 0);
      expect(total(4096, 'transfers')).toBe(moved[0]!.length);
      expect(total(131_072, 'transfers')).toBe(moved[1]!.length);
      expect(total(131_072, 'bytes')).toBe(70_000 * moved[1]!.length);
      expect(total(4096, 'totalUs')).toBe(moved[0]!.reduce((sum, { us }) => sum + us, 0));
      for (const { tx } of all) for (const one of tx) expect(exponentialCount(one.timesUs)).toBe(one.transfers);
      expect(all.length).toBeLessThanOrEqual(32);
      const lengths = all.slice(0, -1).map(({ endMs }, i) => endMs - (all[i - 1]?.endMs ?? -1));
      expect(new Set(lengths).size).toBeLessThanOrEqual(1);
      expect(all.at(-1)!.endMs).toBe(samples.length);
    }),
  );
});

it('counts from 0 an agent that began anew, and gives the largest class the bound that JSON has', () => {
  const slices = new RunSlices();
  slices.take(1, [agent(1, Array<Transfer>(9).fill({ bytes: 2 ** 31, us: 7 }))]);
  slices.take(2, [agent(1, [{ bytes: 2 ** 31, us: 7 }])]);
  expect(slices.all.map(({ tx }) => tx.map(({ upToBytes, transfers }) => [upToBytes, transfers]))).toEqual([
    [[null, 9]],
    [[null, 1]],
  ]);
});
