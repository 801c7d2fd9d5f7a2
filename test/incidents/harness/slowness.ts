/** The judge of slowness, until serve has its own. */
import type { Snapshot } from '../../../src/shm-bridge/types.js';
import type { Said } from './said.js';

export class SlownessWatch {
  sample(_snapshot: Snapshot): Said[] {
    return [];
  }
}
