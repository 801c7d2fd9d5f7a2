/** The trace of a real engine, in the forms that tests need. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { TraceLine } from './replay.js';

/**
 * Two workers of a vLLM 0.32.0 with NIXL 1.5.1: requests one after the other, in bursts, under load, until the prefill instance is
 * killed. It has no end of an agent: rings do not show it.
 */
export const TRACE = gunzipSync(readFileSync(new URL('../vllm-trace.jsonl.gz', import.meta.url)))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as TraceLine);

export const KILLED_MS = TRACE.find(({ mark }) => mark === 'killed')!.t;
const HEALTHY_MS = TRACE.find(({ mark }) => mark?.includes('SIGKILL'))!.t;
/** Until then all transfers have one size. */
export const STEADY_MS = TRACE.find(({ mark }) => mark?.startsWith('sizes'))!.t;

/** Returns what came before this time, that many times; memory is registered once. */
export function* looped(times: number, untilMs = HEALTHY_MS): Generator<TraceLine> {
  const lines = TRACE.filter(({ t, event }) => t < untilMs && event !== 'agent_memory_registered');
  yield* TRACE.filter(({ event }) => event === 'agent_memory_registered');
  for (let loop = 0; loop < times; loop++) for (const line of lines) yield { ...line, t: line.t + loop * untilMs };
}

/** Multiplies the times of transfers from a time on. */
export function* slowed(lines: Iterable<TraceLine>, factor: number, fromMs: number): Generator<TraceLine> {
  for (const line of lines) {
    const isSlow = line.event === 'agent_xfer_time' && line.t >= fromMs;
    yield isSlow ? { ...line, value: Math.round(line.value! * factor) } : line;
  }
}
