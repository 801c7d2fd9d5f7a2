/** Rings of directories, with the sums that serve keeps beside them. */
import path from 'node:path';
import { tallyOptions } from '../mapping/tally-options.js';
import { warnOnce } from '../process/output.js';
import { type KeptTally, readKeptTally } from '../shm-bridge/kept-tally.js';
import { filesBelow } from '../view/rings/ring-files.js';

interface KeptRing {
  readonly directory: string;
  readonly agent: string;
  readonly file: string;
  /** Undefined if there are none, or this user may not read them. */
  readonly kept: KeptTally | undefined;
}

export function keptRings(directories: readonly string[], warn = warnOnce()): KeptRing[] {
  const options = tallyOptions();
  return directories.flatMap((directory) =>
    filesBelow(directory, ({ text }) => warn(text)).map((agent) => {
      const file = path.join(directory, agent);
      return { directory, agent, file, kept: readKeptTally(file, options) };
    }),
  );
}
