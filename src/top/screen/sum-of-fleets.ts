/** The history of several hosts together. Pure. */
import { exponentialSum, type ExponentialTally } from '../../ground/exponential.js';
import { percentilesOf } from '../../view/figures/percentiles.js';
import type { Field, Past, PastPoint, TimedCounts } from '../points.js';
import { History } from './history.js';

const STEP_MS = 5_000;

/**
 * Returns the sums of the rates of several fleets, and the percentiles of all their transfers, in steps of five seconds. The
 * percentiles come from the counts that serve keeps for a heatmap: each is within 9.5 % of a value that occurred.
 */
export function sumOfFleets(pasts: readonly Pick<Past, 'fleet' | 'transferTimes'>[], endMs: number): PastPoint[] {
  const beginMs = Math.min(...pasts.map(({ fleet: [first] }) => first?.fromMs ?? endMs));
  // As History.parts() divides the time.
  const lastMs = Math.ceil(endMs / STEP_MS) * STEP_MS;
  const count = Math.max(0, Math.ceil((lastMs - beginMs) / STEP_MS));
  const histories = pasts.map(({ fleet }) => {
    const history = new History();
    history.fill(fleet, endMs);
    return history;
  });
  const sums = (field: Field): (number | undefined)[] => {
    const columns = histories.map((history) => history.parts([field], endMs, count * STEP_MS, count));
    return Array.from({ length: count }, (_, i) => sumOfKnown(columns.map((column) => column[i]!)));
  };
  const [tx, rx, requests, errors, tooLow] = [sums('tx'), sums('rx'), sums('requests'), sums('errors'), sums('tooLow')];
  const times = pasts.flatMap(({ transferTimes }) => transferTimes);
  return tx.flatMap((_, i): PastPoint[] => {
    if (tx[i] === undefined) return [];
    const fromMs = lastMs - (count - i) * STEP_MS;
    const toMs = fromMs + STEP_MS;
    const rates = { tx: tx[i], rx: rx[i], requests: requests[i], errors: errors[i], tooLow: tooLow[i] };
    return [{ fromMs, toMs, values: { ...rates, ...percentilesBetween(times, fromMs, toMs) } }];
  });
}

function sumOfKnown(values: readonly number[]): number | undefined {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
}

/** Returns percentiles of the transfers in a span. Counts that overlap an end of it are taken in proportion to the overlap. */
function percentilesBetween(all: readonly TimedCounts[], fromMs: number, toMs: number) {
  const inside = all.flatMap((one): ExponentialTally[] => {
    const sharedMs = Math.min(toMs, one.toMs) - Math.max(fromMs, one.fromMs);
    if (sharedMs <= 0) return [];
    const share = sharedMs / (one.toMs - one.fromMs);
    return [{ ...one.counts, counts: Array.from(one.counts.counts, (count) => count * share) }];
  });
  const sum = exponentialSum(inside);
  const found = sum && percentilesOf(sum);
  return { p50: found?.p50, p90: found?.p90, p99: found?.p99 };
}
