/** Percentiles of durations on the page, in top, in read and by PromQL, beside those of the events themselves. */
import { accuracyIn, errorOf, violations } from './support/accuracy.mjs';
import { inDirectory, round } from './support/measure.mjs';
import { prometheusProgram } from './support/prometheus.mjs';

export const title = 'figures of five distributions of transfer times; errors in per cent of the exact figure';

export { violations };

export function run({ quick }) {
  const prometheus = prometheusProgram();
  if (prometheus === undefined) {
    console.error('accuracy: without PromQL, for there is no Prometheus: run node test/servers/fetch.mjs prometheus');
  }
  const options = quick ? { transfers: 2_000, intervalMs: 1000 } : { transfers: 100_000, intervalMs: 3000 };
  return inDirectory((directory) => accuracyIn(directory, { ...options, prometheus }));
}

export function caseOf({ distribution, figure }) {
  return `${distribution}, ${figure}`;
}

export function columnsOf({ exact, seen }) {
  const errors = Object.entries(seen).map(([by, value]) => [by, percentText(errorOf(value, exact))]);
  return { 'exact, us': exact, ...Object.fromEntries(errors) };
}

function percentText(error) {
  return error === undefined ? '-' : `${round(100 * error, 1)} %`;
}
