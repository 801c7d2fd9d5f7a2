import { addon, type Handle } from './addon.js';
import { pathText, wholeNumber } from './checks.js';
import { OpenHandle } from './open-handle.js';
import { rawTally, type RawTally } from './raw-tally.js';
import { isForced, type OpenRingOptions, unavailable } from './ring.js';
import { decodeTally } from './snapshot.js';
import type { ObservedRing, ObservedTally, TallyOptions } from './types.js';

/** So many events are added up in a few milliseconds; the next look goes on where this one ended. */
const EVENTS_PER_LOOK = 2 ** 18;

/** Looks on without taking anything, and adds up what it sees in native code. Best effort, see ObserveResult. */
export class TallyingObserver {
  readonly path: string;
  readonly #tally: RawTally;
  readonly #handle: OpenHandle;

  /** Only observeTally() makes one. */
  constructor(path: string, handle: Handle, tally: RawTally) {
    this.path = pathText('path', path);
    this.#handle = new OpenHandle(path, handle, (ring) => addon().closeTallyingObserver(ring));
    this.#tally = tally;
  }

  /** Adds up the events since the last look, at most `maxEvents`. */
  look(maxEvents = EVENTS_PER_LOOK): ObservedRing {
    return addon().observeAndTally(this.#handle.get(), wholeNumber('maxEvents', maxEvents, 1, EVENTS_PER_LOOK));
  }

  /** Everything since it was opened, over restarts of the agent in its file too. */
  tally(): ObservedTally {
    return decodeTally(addon().tallyOf(this.#handle.get()), this.#tally);
  }

  close(): void {
    this.#handle.close();
  }
}

/**
 * Opens a ring for looking on; begins at the oldest event that nobody consumed.
 *
 * @throws NixlTelemetryError RING_UNAVAILABLE, CONFIG_INVALID
 */
export function observeTally(path: string, tally: TallyOptions, options: OpenRingOptions = {}): TallyingObserver {
  const raw = rawTally(tally);
  const opened = addon().openTallyingObserver(pathText('path', path), isForced(options), raw);
  if (opened.handle) return new TallyingObserver(path, opened.handle, raw);
  throw unavailable(path, opened.state, opened.reason);
}
