/** Fresh snapshots of one source, and what they say about rings put into the log once. */
import type { DiagLogger } from '@opentelemetry/api';
import type { RingSource } from '../shm-bridge/index.js';
import type { RingState, Snapshot } from '../shm-bridge/types.js';
import { DiagOnce } from './diag-once.js';

/** Where a collect gets its numbers. Undefined: there is no source (any more). */
export interface SnapshotFeed {
  read(): Snapshot | undefined;
}

/** Worth a line in the log; the other states are how rings come and go. */
const REPORTED: ReadonlySet<RingState> = new Set(['incompatible', 'corrupt', 'denied', 'busy']);

export class SourceFeed implements SnapshotFeed {
  readonly source: RingSource;
  readonly #said: DiagOnce;

  constructor(source: RingSource, logger: DiagLogger) {
    this.source = source;
    this.#said = new DiagOnce(logger);
  }

  /** Drains first, so that a reader's last collect before the exit holds everything that the rings held. */
  read(): Snapshot | undefined {
    if (this.source.closed) return undefined;
    this.source.drainNow();
    const snapshot = this.source.snapshot();
    this.#report(snapshot);
    return snapshot;
  }

  close(): void {
    if (!this.source.closed) this.source.close();
  }

  #report(snapshot: Snapshot): void {
    for (const { path, state, reason } of snapshot.problems) {
      if (REPORTED.has(state)) this.#said.warn(path, state, `ring ${path} is ${state}: ${reason}`);
    }
    for (const { path, suspect } of snapshot.agents) {
      if (suspect) this.#said.warn(path, 'suspect', `the numbers of ring ${path} may be off: someone else read it too`);
    }
  }
}
