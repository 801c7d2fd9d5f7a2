/** A commit to a state file, beside the drain that it follows, by native/bench/commit_bench.cc. */
import { nativeRows, round } from './support/measure.mjs';

export const title = 'nanoseconds per drain, with and without a commit to the state file, in turns on one core';

export function run({ quick }) {
  return nativeRows('commit_bench', quick ? ['--quick'] : []);
}

export function caseOf({ batch, rings }) {
  return `${batch} events a drain, ${rings} ${rings === 1 ? 'ring' : 'rings'} in turns`;
}

export function columnsOf({ drainNs50, withCommitNs50, drainNs90, withCommitNs90 }) {
  return {
    drain: round(drainNs50),
    'with commit': round(withCommitNs50),
    commit: round(withCommitNs50 - drainNs50),
    times: round(withCommitNs50 / drainNs50),
    'p90 drain': round(drainNs90),
    'p90 with commit': round(withCommitNs90),
  };
}
