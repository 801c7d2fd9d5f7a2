/** The history of several hosts together. Pure. */
import type { Field, Point } from '../points.js';
import { History } from './history.js';

const STEP_MS = 5_000;

/** Returns the sums of the rates of several fleets, in steps of five seconds. Percentiles of fleets cannot be added. */
export function sumOfFleets(fleets: readonly (readonly Point[])[], endMs: number): Point[] {
  const beginMs = Math.min(...fleets.map(([first]) => first?.fromMs ?? endMs));
  // As History.parts() divides the time.
  const lastMs = Math.ceil(endMs / STEP_MS) * STEP_MS;
  const count = Math.max(0, Math.ceil((lastMs - beginMs) / STEP_MS));
  const histories = fleets.map((points) => {
    const history = new History();
    history.fill(points, endMs);
    return history;
  });
  const sums = (field: Field): (number | undefined)[] => {
    const columns = histories.map((history) => history.parts([field], endMs, count * STEP_MS, count));
    return Array.from({ length: count }, (_, i) => sumOfKnown(columns.map((column) => column[i]!)));
  };
  const [tx, rx, requests, errors, tooLow] = [sums('tx'), sums('rx'), sums('requests'), sums('errors'), sums('tooLow')];
  const firstMs = lastMs - count * STEP_MS;
  return tx.flatMap((_, i): Point[] => {
    if (tx[i] === undefined) return [];
    const rates = { tx: tx[i], rx: rx[i], requests: requests[i], errors: errors[i], tooLow: tooLow[i] };
    const values = { ...rates, p50: undefined, p90: undefined, p99: undefined };
    return [{ fromMs: firstMs + i * STEP_MS, toMs: firstMs + (i + 1) * STEP_MS, values }];
  });
}

function sumOfKnown(values: readonly number[]): number | undefined {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
}
