/** One open ring, observed or drained. A later file of the same name does not replace it. */
import path from 'node:path';
import { observeRing, openRing } from '../../shm-bridge/ring.js';
import type { ObserveResult, RingEventColumns, RingStatus } from '../../shm-bridge/types.js';
import { ExitCode, type ExitCodeNumber } from '../../process/failure.js';
import { warnOnce } from '../../process/output.js';

export const BATCH_EVENTS = 16_384;

/** Access to the events of one file. */
export interface Reading {
  readonly agent: string;
  /**
   * Returns some of the events since the last call; undefined without a readable file. A consumer takes at most `most`,
   * because these events leave the ring.
   */
  take(most: number): RingEventColumns | undefined;
  /** Exit code for its state; 0 while it can be read. */
  readonly exitCode: ExitCodeNumber;
  /** Writes a note if the ring was lost and has no note yet. Absent if take() reports losses. */
  reportLoss?(): void;
  close(): void;
}

type Found = ObserveResult<RingEventColumns>;

export class OpenedRing implements Reading {
  readonly agent: string;
  readonly #file: string;
  readonly #access: Access;
  readonly #warn: (message: string) => void;
  #last: Found | undefined;

  /** @throws NixlTelemetryError RING_UNAVAILABLE */
  constructor(file: string, consume: boolean, warn = warnOnce()) {
    this.#file = file;
    this.agent = path.basename(file);
    this.#warn = warn;
    this.#access = consume ? consuming(file) : observing(file);
  }

  take(most: number): RingEventColumns {
    this.#last = this.#access.read(most);
    const { events, lapped, restarted } = this.#last;
    if (lapped) this.#warn(`${this.#file} wrapped between two reads: events are missing`);
    if (restarted) this.#warn(`the agent of ${this.#file} restarted; its new events follow`);
    return events;
  }

  /** State at the last read; undefined if the ring was readable. */
  get problem(): RingStatus | undefined {
    return this.#last === undefined || this.#last.state === 'ready' ? undefined : this.#last;
  }

  get exitCode(): ExitCodeNumber {
    return this.problem === undefined ? ExitCode.OK : lossExitCode(this.problem.state);
  }

  reportLoss(): void {
    if (this.problem !== undefined) this.#warn(`${this.#file} is ${this.problem.state}: ${this.problem.reason}`);
  }

  /** True if the ring is full and no consumer drains it. */
  get stalled(): boolean {
    return this.#last?.stalled === true;
  }

  close(): void {
    this.#access.close();
  }
}

/** Returns the exit code for a file that was a ring before. Unlike exitCodeOf(), it treats an empty file as truncated. */
export function lossExitCode(state: string): ExitCodeNumber {
  return state === 'denied' || state === 'busy' ? ExitCode.DENIED : ExitCode.INCOMPATIBLE;
}

type Access = Readonly<{ read: (most: number) => Found; close: () => void }>;

/** Reads whole batches: observed events stay in the ring. */
function observing(file: string): Access {
  const observer = observeRing(file);
  return { read: () => observer.observeColumns(BATCH_EVENTS), close: () => observer.close() };
}

function consuming(file: string): Access {
  const ring = openRing(file);
  let restartsBefore = 0;
  return {
    read: (most) => {
      const events = ring.drainColumns(most);
      const { state, reason, restarts } = ring.stats();
      const restarted = restarts > restartsBefore;
      restartsBefore = restarts;
      return { events, state, reason, restarted, lapped: false, stalled: false };
    },
    close: () => ring.close(),
  };
}
