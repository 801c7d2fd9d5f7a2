/** Tallies in state files. Apart from ring.ts, which needs no decoder of tallies. */
import { pathArgument } from '../ground/arguments.js';
import type { AgentTally, TallyOptions } from '../ground/tally.js';
import { addon } from './addon.js';
import { rawTally } from './raw-tally.js';
import { decodeTally } from './snapshot.js';
import type { StateSummary } from './types.js';

export interface KeptTally extends Pick<StateSummary, 'startTimeMs' | 'lastEventMs'> {
  readonly tally: AgentTally;
}

/**
 * Reads the sums in the state file of a ring, without a lock. Returns undefined if this user has none that can be used for the
 * ring that is at the path now. A histogram is empty if the file has it with other bounds than `options`.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function readKeptTally(path: string, options: TallyOptions): KeptTally | undefined {
  const raw = rawTally(options);
  const state = addon().readState(pathArgument('path', path), raw);
  if (state === undefined) return undefined;
  const { words, strings, ...times } = state;
  return { ...times, tally: decodeTally({ words, strings }, raw) };
}
