/** One agent as JSON: docs/json.md describes it. Pure. */
import type { TimeFigures } from '../view/figures/time-figures.js';
import { type AgentModel, errorsOf, mayHaveLostMore, requestsOf } from '../view/model/agent-model.js';
import { AGENT_COLUMNS } from '../view/model/columns.js';
import { isIdle } from '../view/verdict/idle.js';
import type { TopRow } from './tracker.js';

/** Rates are bytes and events per second, times microseconds; null is unknown. */
export function agentObject(row: TopRow): object {
  const { agent: model, transferTimeUs, postTimeUs } = row;
  const { agent, place, host, pid, engine, lost, suspect: missed, idleMs, txBytes, rxBytes } = model;
  return {
    agent,
    place,
    host,
    state: stateOf(model),
    pid,
    engine,
    ...Object.fromEntries(AGENT_COLUMNS.flatMap(({ json, value }) => (json ? [[json, value(row) ?? null]] : []))),
    transferTimeUs: timesObject(transferTimeUs),
    postTimeUs: timesObject(postTimeUs),
    lost,
    lostMore: mayHaveLostMore(model),
    missed,
    idleSeconds: idleMs === undefined ? null : idleMs / 1000,
    totals: { txBytes, rxBytes, requests: requestsOf(model), errors: errorsOf(model) },
  };
}

function stateOf({ life, idleMs, flushIntervalMs }: AgentModel): string {
  if (life !== 'alive') return life;
  return isIdle(idleMs, flushIntervalMs) ? 'idle' : 'live';
}

/** A percentile of which only a bound is known is null, with that bound beside it: `p50Below`, `p99Above`. */
function timesObject(figures: TimeFigures | undefined): object {
  const keys = ['p50', 'p90', 'p99', 'max'] as const;
  const entries = keys.flatMap((key): [string, number | null][] => {
    const [value, limit] = [figures?.[key], figures?.limits?.[key]];
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
