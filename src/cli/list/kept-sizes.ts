/** Time by size from the state files that serve keeps beside the rings. */
import { directionSizesOf } from '../../view/sizes/direction-sizes.js';
import { keptRings } from '../kept-rings.js';
import type { ListedSizes } from './size-lines.js';

/** Returns the agents whose state this user may read. */
export function keptSizes(directories: readonly string[]): readonly ListedSizes[] {
  return keptRings(directories).flatMap(({ directory, agent, file, kept }) => {
    if (kept === undefined) return [];
    const { transmit, receive } = kept.tally.timeBySize!;
    const [tx, rx] = [directionSizesOf(transmit), directionSizesOf(receive)];
    const name = directories.length > 1 ? file : agent;
    const takenMs = kept.lastEventMs ?? kept.startTimeMs;
    return [{ agent, name, directory, takenMs, source: 'kept state of', tx, rx }];
  });
}
