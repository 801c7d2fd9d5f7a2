/** The price of an agent by preset of series: series and bytes of an agent of which each event of NIXL was seen. */
import { EVENTS, SERIES_PRESETS } from '../dist/mapping/index.js';
import { round } from './support/measure.mjs';
import { MANY, measuredSizes } from './support/sizes.mjs';

export const title = `what an agent costs at its backend, by preset of series, and the page of ${MANY} agents`;

export async function run() {
  const rows = [];
  for (const series of SERIES_PRESETS) {
    const { agent, many } = await measuredSizes(series, (writer) => {
      for (const { type } of EVENTS) writer.push({ type, value: 1000 });
    });
    rows.push({ preset: series, agent, pageBytes: many.pageBytes });
  }
  return rows;
}

export function caseOf({ preset }) {
  return `--series ${preset}`;
}

export function columnsOf({ agent, pageBytes }) {
  const kB = (bytes) => round(bytes / 1000, 2);
  return {
    'series of an agent': round(agent.series, 0),
    'of them buckets': round(agent.buckets, 0),
    'page, kB': kB(agent.pageBytes),
    'page gzip, kB': kB(agent.pageGzipBytes),
    'series, protobuf': round(agent.nativeSeries, 0),
    'protobuf page, kB': kB(agent.nativePageBytes),
    'its gzip, kB': kB(agent.nativePageGzipBytes),
    'OTLP protobuf, kB': kB(agent.protobufBytes),
    'OTLP gzip, kB': kB(agent.protobufGzipBytes),
    [`page of ${MANY}, MB`]: round(pageBytes / 1e6, 3),
  };
}
