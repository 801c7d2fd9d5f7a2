/** Ring to tally: native/bench/drain_bench.cc does the work. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../native/build/bench/drain_bench', import.meta.url));

export const title = 'nanoseconds per event, whole transfers in the ring; pop is a plain loop as in NIXL';

export function run() {
  return execFileSync(PROGRAM, { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

export function caseOf({ wireVersion, capacity, batch, cache }) {
  return `v${wireVersion}, ${capacity} slots, ${batch} a drain${cache === 'cold' ? ', cold' : ''}`;
}

export function columnsOf({ memcpyNs, popNs, drainNs, tallyNs }) {
  const two = (value) => Number(value.toFixed(2));
  return {
    memcpy: two(memcpyNs),
    pop: two(popNs),
    drain: two(drainNs),
    'drain + tally': two(tallyNs),
    'times pop': two(tallyNs / popNs),
  };
}
