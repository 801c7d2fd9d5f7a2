/** Runs for comparisons, in which each transfer is known. */
import type { ComparedRun } from '../../src/comparison/comparison.js';
import { RunSlices } from '../../src/comparison/run-slices.js';
import { classesOf, type Transfer } from '../view/sizes/seven-agents.js';

/** One list of transfers for each slice. */
export function runOf(slices: readonly (readonly Transfer[])[], beginMs = 0): ComparedRun {
  const recorded = new RunSlices();
  slices.forEach((_, i) => {
    const transmit = { classes: classesOf(slices.slice(0, i + 1).flat()), endedInPost: 0, flushSquares: 0n };
    const receive = { classes: [], endedInPost: 0, flushSquares: 0n };
    recorded.take(beginMs + 100 * (i + 1), [{ id: 1, timeBySize: { transmit, receive } }]);
  });
  return { beginMs, slices: recorded.all };
}

/** Transfers of 8 KiB in so many slices. `usOf`: time of one, by the number of its slice. */
export function evenRun(transfers: number, slices: number, usOf: (slice: number) => number, beginMs = 0): ComparedRun {
  const each = Math.round(transfers / slices);
  return runOf(
    Array.from({ length: slices }, (_, slice) =>
      Array.from({ length: each }, () => ({ bytes: 8192, us: Math.round(usOf(slice)) })),
    ),
    beginMs,
  );
}
