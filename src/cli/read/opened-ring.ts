/** One ring whose events are printed, looked at or drained: the file that its name stood for when it was opened. */
import path from 'node:path';
import { observeRing, openRing } from '../../shm-bridge/index.js';
import type { RingEventColumns, RingState } from '../../shm-bridge/types.js';
import { ExitCode, type ExitCodeNumber } from '../process/failure.js';
import { warnOnce } from '../process/output.js';

export const BATCH_EVENTS = 16_384;

/** What is read, by whatever name. */
export interface Reading {
  readonly agent: string;
  /** Some of the events since the last call. Where they are gone from the ring then, at most `most`. */
  take(most: number): RingEventColumns;
  /** Exit code for the state that it is in now; 0 while it can be read. */
  readonly exitCode: ExitCodeNumber;
  /** Writes a note where the ring was lost and no note was written yet. */
  noteLost(): void;
  close(): void;
}

/** What was found at one look, or taken. */
interface Found {
  readonly events: RingEventColumns;
  readonly state: RingState;
  /** Empty when ready. */
  readonly reason: string;
  readonly lapped?: boolean;
  readonly stalled?: boolean;
  readonly restarted: boolean;
}

export class OpenedRing implements Reading {
  readonly agent: string;
  readonly #file: string;
  readonly #access: Access;
  readonly #sayOnce: (message: string) => void;
  #last: Found | undefined;

  /** @throws NixlTelemetryError RING_UNAVAILABLE */
  constructor(file: string, consume: boolean, sayOnce = warnOnce()) {
    this.#file = file;
    this.agent = path.basename(file);
    this.#sayOnce = sayOnce;
    this.#access = consume ? consuming(file) : observing(file);
  }

  take(most: number): RingEventColumns {
    this.#last = this.#access.look(most);
    const { events, lapped, restarted } = this.#last;
    if (lapped === true) this.#sayOnce(`${this.#file} went round between two looks: events are missing`);
    if (restarted) this.#sayOnce(`the agent of ${this.#file} started again; what follows is of its new life`);
    return events;
  }

  /** At the last look. Undefined: it is a ring and can be read. */
  get problem(): Pick<Found, 'state' | 'reason'> | undefined {
    return this.#last === undefined || this.#last.state === 'ready' ? undefined : this.#last;
  }

  get exitCode(): ExitCodeNumber {
    return this.problem === undefined ? ExitCode.OK : lostCode(this.problem.state);
  }

  noteLost(): void {
    if (this.problem !== undefined) this.#sayOnce(`${this.#file} is ${this.problem.state}: ${this.problem.reason}`);
  }

  /** Full at the last look, and nobody drains it. */
  get stalled(): boolean {
    return this.#last?.stalled === true;
  }

  close(): void {
    this.#access.close();
  }
}

/** Exit code for a file that was a ring before: an empty one was cut. */
export function lostCode(state: string): ExitCodeNumber {
  return state === 'denied' || state === 'busy' ? ExitCode.DENIED : ExitCode.INCOMPATIBLE;
}

interface Access {
  look(most: number): Found;
  close(): void;
}

/** Takes nothing, so that there is always a whole batch. */
function observing(file: string): Access {
  const observer = observeRing(file);
  return { look: () => observer.observeColumns(BATCH_EVENTS), close: () => observer.close() };
}

function consuming(file: string): Access {
  const ring = openRing(file);
  let restartsBefore = 0;
  return {
    look: (most) => {
      const events = ring.drainColumns(most);
      const { state, reason, restarts } = ring.stats();
      const restarted = restarts > restartsBefore;
      restartsBefore = restarts;
      return { events, state, reason, restarted };
    },
    close: () => ring.close(),
  };
}
