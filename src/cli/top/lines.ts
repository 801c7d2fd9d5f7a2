/** What top says where there is no screen: a line per agent, or one of JSON. Pure. */
import { harmless, printableJson } from '../process/output.js';
import { COLUMNS } from './columns.js';
import { nameOf } from './frame.js';
import type { Quantile } from '../figures/quantile.js';
import { fit, pad } from './text.js';
import { overall, type Row, type View } from './tracker.js';

const NAME_WIDTH = 24;
const TIME_WIDTH = 19;

export function heading(): string {
  const columns = COLUMNS.map(({ heading, width }) => fit(heading, width, 'right'));
  return [fit('TIME', TIME_WIDTH), fit('AGENT', NAME_WIDTH), ...columns].join(' ');
}

/** Names are not cut here: whoever reads lines may need them whole. */
export function textLines({ takenMs }: View, rows: readonly Row[]): string[] {
  const time = localTime(takenMs);
  return rows.map((row) => {
    const columns = COLUMNS.map(({ text, width }) => fit(text(row), width, 'right'));
    return [time, pad(harmless(nameOf(row)), NAME_WIDTH), ...columns].join(' ');
  });
}

function localTime(ms: number): string {
  const date = new Date(ms);
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}

/** One object. Bytes and events per second, microseconds; null where there is nothing to say. */
export function jsonLine(view: View, rows: readonly Row[], source: string): string {
  const { tx, rx, requests, errors, lost, lostMore } = overall(rows);
  return printableJson({
    time: new Date(view.takenMs).toISOString(),
    source,
    seconds: view.seconds ?? null,
    txBytesPerSecond: tx ?? null,
    rxBytesPerSecond: rx ?? null,
    requestsPerSecond: requests ?? null,
    errorsPerSecond: errors ?? null,
    lost,
    lostMore,
    notes: view.notes,
    agents: rows.map(agentObject),
  });
}

function agentObject({ totals, state, tx, rx, requests, errors, p50, p99, post99 }: Row): object {
  const { agent, place, pid, fill, idleMs, missed, lost, lostMore } = totals;
  return {
    agent,
    ...(place === undefined ? {} : { place }),
    state,
    ...(pid === undefined ? {} : { pid }),
    txBytesPerSecond: tx ?? null,
    rxBytesPerSecond: rx ?? null,
    requestsPerSecond: requests ?? null,
    errorsPerSecond: errors ?? null,
    transferTimeUs: { p50: us(p50), p99: us(p99) },
    postTimeUs: { p99: us(post99) },
    lost,
    lostMore,
    missed,
    fill: fill ?? null,
    idleSeconds: idleMs === undefined ? null : idleMs / 1000,
    totals: { txBytes: totals.txBytes, rxBytes: totals.rxBytes, requests: totals.requests, errors: totals.errors },
  };
}

function us(quantile: Quantile | undefined): number | null {
  // A bucket is not as exact as a double looks.
  return quantile === undefined ? null : Number(quantile.value.toPrecision(3));
}
