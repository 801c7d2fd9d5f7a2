/** Compares the exponential counts of the tally with the counts of the same values in TypeScript. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventTotals } from '../../src/cli/read/summary.js';
import { exponentialCount, type ExponentialTally } from '../../src/ground/exponential.js';
import { tallyOptions } from '../../src/mapping/index.js';
import { observeTally, RingWriter } from '../../src/shm-bridge/index.js';
import type { HistogramTally } from '../../src/ground/tally.js';
import { comparable, exponentialTally } from '../support/exponential.js';
import { temporaryDirectory } from '../support/live.js';
import { pushAll } from '../support/rings.js';

const MOST = 2n ** 64n - 1n;
const [TIME, POST_TIME] = [6, 7];

/** Values at both sides of each bound. */
const atBound = fc
  .tuple(fc.nat(64 * 16), fc.bigInt(-3_000n, 3_000n), fc.boolean())
  .map(([i, distance, isNear]) => BigInt(Math.floor(2 ** (i / 16))) + (isNear ? distance % 2n : distance))
  .map((value) => (value < 0n ? 0n : value > MOST ? MOST : value));
const value = fc.oneof(atBound, fc.bigInt(0n, MOST), fc.bigInt(0n, 30n));
const transfer = fc.record({ received: fc.boolean(), posted: fc.boolean(), us: value, bytes: value });

function counted(values: readonly bigint[]): ExponentialTally {
  const totals = new EventTotals();
  for (const one of values) totals.add(Number(one >> 32n), Number(one & 0xffff_ffffn));
  return comparable(totals.exponential);
}

function holds(histogram: HistogramTally | undefined, expected: ExponentialTally): void {
  const { counts, exponential } = histogram!;
  expect(comparable(exponential)).toEqual(expected);
  expect(exponentialCount(exponential)).toBe(counts.reduce((sum, count) => sum + count, 0));
}

test('exponential counts have each value in its bucket, and as many values as the bounds', () => {
  const file = path.join(temporaryDirectory(), 'agent');
  fc.assert(
    fc.property(fc.constantFrom(1, 4), fc.array(transfer, { maxLength: 60 }), (wireVersion, transfers) => {
      rmSync(file, { force: true });
      const writer = new RingWriter(file, { wireVersion, capacity: 256 });
      const push = (type: number, name: string, category: number, value: bigint): void => {
        pushAll(writer, [{ type, name, category, value }]);
      };
      for (const { received, posted, us, bytes } of transfers) {
        const direction = received ? 'rx' : 'tx';
        if (posted) push(POST_TIME, 'agent_xfer_post_time', 5, us);
        push(TIME, 'agent_xfer_time', 5, us);
        push(received ? 1 : 0, `agent_${direction}_bytes`, 1, bytes);
        push(received ? 3 : 2, `agent_${direction}_requests_num`, 1, 1n);
      }
      writer.close();
      const observer = observeTally(file, tallyOptions());
      observer.observe();
      const tally = observer.tally();
      observer.close();
      holds(tally.events[TIME]!.histogram, counted(transfers.map(({ us }) => us)));
      holds(tally.events[POST_TIME]!.histogram, counted(transfers.filter(({ posted }) => posted).map(({ us }) => us)));
      for (const received of [false, true]) {
        const { size, duration, throughput } = tally.transfers[received ? 'receive' : 'transmit'];
        const those = transfers.filter((one) => one.received === received);
        holds(size, counted(those.map(({ bytes }) => bytes)));
        holds(duration, counted(those.map(({ us }) => us)));
        // Below one byte per second counts as one, and above 2^64 as the last bucket.
        const rates = those.filter(({ us }) => us > 0n).map(({ us, bytes }) => (Number(bytes) * 1e6) / Number(us));
        const limited = rates.map((rate) => (rate === 0 ? 0 : Math.min(Math.max(rate, 1), 2 ** 64)));
        holds(throughput, comparable(exponentialTally(limited)));
      }
    }),
    { numRuns: 300 },
  );
});
