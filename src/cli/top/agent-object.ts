/** One agent as JSON: docs/json.md describes it. Pure. */
import type { TimeFigures } from './time-figures.js';
import type { Row } from './tracker.js';

/** Rates are bytes and events per second, times microseconds; null is unknown. */
export function agentObject({ totals, state, tx, rx, requests, errors, transferTime, postTime }: Row): object {
  const { agent, place, host, pid, fill, idleMs, missed, lost, lostMore } = totals;
  return {
    agent,
    ...(place === undefined ? {} : { place }),
    ...(host === undefined ? {} : { host }),
    state,
    ...(pid === undefined ? {} : { pid }),
    txBytesPerSecond: tx ?? null,
    rxBytesPerSecond: rx ?? null,
    requestsPerSecond: requests ?? null,
    errorsPerSecond: errors ?? null,
    transferTimeUs: timesObject(transferTime),
    postTimeUs: timesObject(postTime),
    lost,
    lostMore,
    missed,
    fill: fill ?? null,
    idleSeconds: idleMs === undefined ? null : idleMs / 1000,
    totals: {
      txBytes: Number(totals.txBytes),
      rxBytes: Number(totals.rxBytes),
      requests: Number(totals.requests),
      errors: totals.errors,
    },
  };
}

/** A percentile of which only a bound is known is null, with that bound beside it: `p50Below`, `p99Above`. */
function timesObject(figures: TimeFigures | undefined): object {
  const keys = ['p50', 'p90', 'p99', 'max'] as const;
  const entries = keys.flatMap((key): [string, number | null][] => {
    const { value, limit } = figures?.[key] ?? {};
    // More digits would suggest an accuracy that buckets lack.
    const us = value === undefined ? null : Number(value.toPrecision(3));
    if (limit === undefined) return [[key, us]];
    return [
      [key, null],
      [limit === 'below' ? `${key}Below` : `${key}Above`, us],
    ];
  });
  return Object.fromEntries(entries);
}
