/** What vLLM and nixl-otel say of the same transfers, in the same units. */
import { type Sample, samplesOf } from '../support/page.js';

export interface Moved {
  transfers: number;
  bytes: number;
  transferUs: number;
  postUs: number;
}

export const EQUAL: Moved = { transfers: 0, bytes: 0, transferUs: 0, postUs: 0 };

export function difference(one: Moved, other: Moved): Moved {
  const keys = Object.keys(EQUAL) as (keyof Moved)[];
  return Object.fromEntries(keys.map((key) => [key, one[key] - other[key]])) as unknown as Moved;
}

export function meanUs({ transferUs, transfers }: Moved): number {
  return Math.round(transferUs / transfers);
}

/** Sums up what all engines of these pages say. vLLM has NIXL's microseconds as seconds. */
export function movedByVllm(...pages: string[]): Moved {
  const sum = sumsOf(pages.flatMap(samplesOf));
  return {
    transfers: sum('vllm:nixl_xfer_time_seconds_count'),
    bytes: sum('vllm:nixl_bytes_transferred_sum'),
    transferUs: Math.round(sum('vllm:nixl_xfer_time_seconds_sum') * 1e6),
    postUs: Math.round(sum('vllm:nixl_post_time_seconds_sum') * 1e6),
  };
}

/** Sums up the agents of these instances on a page of serve, as dashboards join them. */
export function movedByAgents(page: string, instances: readonly string[]): Moved {
  const samples = samplesOf(page);
  const agents = new Set(
    samples.flatMap(({ name, labels }) =>
      name === 'nixl_agent_info' && instances.includes(labels['engine_instance']!) ? [labels['agent_name']] : [],
    ),
  );
  const sum = sumsOf(samples.filter(({ labels }) => agents.has(labels['agent_name'])));
  return {
    transfers: sum('agent_xfer_time_us_count'),
    bytes: sum('agent_rx_bytes_total') + sum('agent_tx_bytes_total'),
    transferUs: sum('agent_xfer_time_us_sum'),
    postUs: sum('agent_xfer_post_time_us_sum'),
  };
}

/** Failed transfers, handshakes and notifications. */
export function failedByVllm(page: string): number {
  return sumsOf(samplesOf(page))('vllm:nixl_num_failed_transfers_total');
}

/** Failed operations of all agents, by NIXL. */
export function failedByNixl(page: string): number {
  return sumsOf(samplesOf(page))('agent_errors_total');
}

function sumsOf(samples: readonly Sample[]): (name: string) => number {
  const sums = new Map<string, number>();
  for (const { name, value } of samples) sums.set(name, (sums.get(name) ?? 0) + value);
  return (name) => sums.get(name) ?? 0;
}
