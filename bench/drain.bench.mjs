/** Ring to tally, by native/bench/drain_bench.cc. */
import { nativeRows, round } from './support/measure.mjs';

export const title = 'nanoseconds per event, whole transfers in the ring; pop is a plain loop as in NIXL';

export function run({ quick }) {
  return nativeRows('drain_bench', quick ? ['--quick'] : []);
}

export function caseOf({ wireVersion, capacity, batch, cache }) {
  return `v${wireVersion}, ${capacity} slots, ${batch} a drain${cache === 'cold' ? ', cold' : ''}`;
}

export function columnsOf({ memcpyNs, popNs, drainNs, tallyNs }) {
  return {
    memcpy: round(memcpyNs),
    pop: round(popNs),
    drain: round(drainNs),
    'drain + tally': round(tallyNs),
    'times pop': round(tallyNs / popNs),
  };
}
