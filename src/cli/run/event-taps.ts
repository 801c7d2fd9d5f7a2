/** Facts from single events that sums do not have: the first transfer of each agent, and its memory at its peak. */
import type { AgentSnapshot } from '../../ground/tally.js';
import type { WatchedFacts } from '../../report/build-report.js';
import type { EventTap, RingSource } from '../../shm-bridge/source.js';
import type { TypeBatch } from '../../shm-bridge/types.js';
import { FirstTransfers, TRANSFER_TYPES } from './first-transfers.js';
import { DEREGISTERED, MemoryPeaks, REGISTERED } from './memory-peaks.js';

const TAKEN_AT_ONCE = 65_536;
const MEMORY_CAPACITY = 1_048_576;
/** Wire version from which a post is written with its transfer. */
const POST_WITH_TRANSFER = 4;

/** Misses what the source drained before this object is made. */
export class EventTaps {
  readonly peaks = new MemoryPeaks();
  readonly #firsts = new FirstTransfers();
  readonly #firstTap: EventTap<TypeBatch>;
  readonly #memoryTap: EventTap<TypeBatch>;

  constructor(source: RingSource) {
    this.#firstTap = source.openTypeTap({ types: TRANSFER_TYPES, first: 1 });
    this.#memoryTap = source.openTypeTap({ types: [REGISTERED, DEREGISTERED], capacity: MEMORY_CAPACITY });
  }

  /** Takes what was drained since the last call. */
  take(): void {
    takeAll(this.#firstTap, this.#firsts);
    takeAll(this.#memoryTap, this.peaks);
  }

  /**
   * Requires that no other process drained earlier events of the agent. A ring that was full refused events, so the peak of memory
   * is not known.
   */
  of({ id, wireVersion, foundFull }: AgentSnapshot): Pick<WatchedFacts, 'firstTransfer' | 'memoryPeakBytes'> {
    const firstTransfer = this.#firsts.of(id, wireVersion >= POST_WITH_TRANSFER);
    return { ...(firstTransfer && { firstTransfer }), ...(foundFull === 0 && { memoryPeakBytes: this.peaks.of(id) }) };
  }
}

function takeAll(tap: EventTap<TypeBatch>, to: { add(batch: TypeBatch): void }): void {
  for (let batch = tap.take(TAKEN_AT_ONCE); batch.length > 0; batch = tap.take(TAKEN_AT_ONCE)) to.add(batch);
}
