/** Time by size from the state files that serve keeps beside the rings. */
import path from 'node:path';
import { tallyOptions } from '../../mapping/tally-options.js';
import { warnOnce } from '../../process/output.js';
import { readKeptTally } from '../../shm-bridge/kept-tally.js';
import { filesBelow } from '../../view/rings/ring-files.js';
import { directionSizesOf } from '../../view/sizes/direction-sizes.js';
import type { ListedSizes } from './size-lines.js';

/** Returns the agents whose state this user may read. */
export function keptSizes(directories: readonly string[]): readonly ListedSizes[] {
  const options = tallyOptions();
  const warn = warnOnce();
  return directories.flatMap((directory) => {
    const agents = filesBelow(directory, ({ text }) => warn(text));
    return agents.flatMap((agent) => {
      const file = path.join(directory, agent);
      const kept = readKeptTally(file, options);
      if (kept === undefined) return [];
      const { transmit, receive } = kept.tally.timeBySize!;
      const [tx, rx] = [directionSizesOf(transmit), directionSizesOf(receive)];
      const name = directories.length > 1 ? file : agent;
      const takenMs = kept.lastEventMs ?? kept.startTimeMs;
      return [{ agent, name, directory, takenMs, source: 'kept state of', tx, rx }];
    });
  });
}
