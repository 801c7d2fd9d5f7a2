/** A producer and a consumer on two cores, by native/bench/concurrent_bench.cc. */
import { nativeRows, round } from './support/measure.mjs';

export const title =
  'producer and consumer on two cores; alone: without a consumer; pop: a plain loop as in NIXL; bursts of 4095 into 4096 slots';

export function run({ quick }) {
  return nativeRows('concurrent_bench', [quick ? 1 : 7]);
}

export function caseOf({ wireVersion }) {
  return `v${wireVersion}`;
}

export function columnsOf({ pushAloneNs, pushPoppedNs, pushCollectedNs, sustainedPopped, sustainedCollected }) {
  return {
    'push ns, alone': round(pushAloneNs),
    'push ns, pop': round(pushPoppedNs),
    'push ns, collector': round(pushCollectedNs),
    'times pop': round(pushCollectedNs / pushPoppedNs),
    'million events/s, pop': round(sustainedPopped),
    'million events/s, collector': round(sustainedCollected),
  };
}
