/** Percentiles that people see, beside those of the events: `npm run bench -- accuracy` has more events, and PromQL. */
import { expect, it } from 'vitest';
import { accuracyIn, violations } from '../../bench/support/accuracy.mjs';
import { temporaryDirectory } from './command.js';

it('percentiles of page, top and read are within 5 % of those of the events', async () => {
  const rows = await accuracyIn(temporaryDirectory(), { transfers: 2_000, intervalMs: 1_000 });
  expect(violations(rows)).toEqual([]);
  const shown = ['page', 'top --dir', 'top --url', 'read --summary', 'explicit buckets'];
  expect(rows.map(({ seen }) => Object.keys(seen))).toEqual(new Array(5 * 4).fill(shown));
});
