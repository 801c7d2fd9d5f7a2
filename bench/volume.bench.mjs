/**
 * Bytes that a fleet sends to its backend. The exports of 1 and of 64 agents are measured. Their difference, divided by
 * 63, is the share of one agent; the rest is that of a host without agents. A fleet is a multiple: hosts share nothing.
 */
import { plural, round } from './support/measure.mjs';
import { measuredSizes, sizes } from './support/sizes.mjs';

export const title = 'a fleet at its backend, computed from measured exports; scraped every 15 s, or pushed every 60 s';

const SCRAPES_A_DAY = 86_400 / 15;
const PUSHES_A_DAY = 86_400 / 60;

export async function run({ quick }) {
  const { agent, host } = await measuredSizes('standard');
  const rows = [];
  for (const hosts of quick ? [1] : [1, 100, 10_000]) {
    for (const agents of [1, 8, 64]) {
      rows.push({ hosts, agents, ...sizes((size) => hosts * (host[size] + agents * agent[size])) });
    }
  }
  return rows;
}

export function caseOf({ hosts, agents }) {
  return `${plural(hosts, 'host')}, ${plural(agents, 'agent')} each`;
}

export function columnsOf(row) {
  const MB = (bytes) => round(bytes / 1e6, 3);
  const GB = (bytes) => round(bytes / 1e9, 2);
  return {
    series: round(row.series, 0),
    'of them buckets': round(row.buckets, 0),
    'samples/s': round((row.series * SCRAPES_A_DAY) / 86_400, 0),
    'pages, MB': MB(row.pageBytes),
    'gzip, MB': MB(row.pageGzipBytes),
    'pages gzip, GB/day': GB(row.pageGzipBytes * SCRAPES_A_DAY),
    'OTLP protobuf, MB': MB(row.protobufBytes),
    'OTLP gzip, MB': MB(row.protobufGzipBytes),
    'OTLP gzip, GB/day': GB(row.protobufGzipBytes * PUSHES_A_DAY),
  };
}
