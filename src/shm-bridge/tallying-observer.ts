/** Rings that are observed passively, with sums in native code. Apart from ring.ts, which needs no decoder of tallies. */
import { pathArgument, wholeNumberArgument } from '../ground/arguments.js';
import type { AgentTally, TallyOptions } from '../ground/tally.js';
import { addon, type Handle, handleOf, OpenHandle } from './addon.js';
import { rawTally, type RawTally } from './raw-tally.js';
import { isForced, type OpenRingOptions } from './ring.js';
import { decodeTally } from './snapshot.js';
import type { ObservedRing } from './types.js';

/** Limit of events per tallying call: a few milliseconds of work. The next call continues after them. */
const EVENTS_PER_TALLY = 2 ** 18;

/** Observes a ring passively and adds its events up in native code. Best effort, see ObserveResult. */
export class TallyingObserver {
  readonly path: string;
  readonly #tally: RawTally;
  readonly #handle: OpenHandle;

  /** Use observeTally(). */
  constructor(path: string, handle: Handle, tally: RawTally) {
    this.path = pathArgument('path', path);
    this.#handle = new OpenHandle(path, handle, (ring) => addon().closeObserver(ring));
    this.#tally = tally;
  }

  /** Adds up the events since the previous call, at most `maxEvents`. */
  observe(maxEvents = EVENTS_PER_TALLY): ObservedRing {
    return addon().observeAndTally(
      this.#handle.get(),
      wholeNumberArgument('maxEvents', maxEvents, 1, EVENTS_PER_TALLY),
    );
  }

  /** Returns the totals since the observer was opened, across restarts of the agent in this file. */
  tally(): AgentTally {
    return decodeTally(addon().tallyOf(this.#handle.get()), this.#tally);
  }

  close(): void {
    this.#handle.close();
  }
}

/**
 * Opens a ring for passive observation, from its oldest unread event on.
 * @throws NixlTelemetryError RING_UNAVAILABLE, CONFIG_INVALID
 */
export function observeTally(path: string, tally: TallyOptions, options: OpenRingOptions = {}): TallyingObserver {
  const raw = rawTally(tally);
  const opened = addon().openObserver(pathArgument('path', path), isForced(options), raw);
  return new TallyingObserver(path, handleOf(path, opened), raw);
}
