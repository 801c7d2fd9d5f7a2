import { listOf, optionsObject } from '../arguments.js';
import { NixlTelemetryError } from '../errors.js';
import { addon, type Handle } from './addon.js';
import { pathText, trueOrFalse, wholeNumber } from './checks.js';
import { OpenHandle } from './open-handle.js';
import type { ObserveResult, RingEvent, RingEventColumns, RingInspection, RingState, RingStats } from './types.js';

const MOST_EVENTS = 2 ** 24;

export interface OpenRingOptions {
  /** Also on NFS, 9p, virtiofs and FUSE; default false. */
  force?: boolean;
}

/** One ring, drained by hand. The same file opened twice in one process is one ring. */
export class Ring {
  readonly path: string;
  readonly #handle: OpenHandle;

  /** Only openRing() makes one. */
  constructor(path: string, handle: Handle) {
    this.path = pathText('path', path);
    this.#handle = new OpenHandle(path, handle, (ring) => addon().closeRing(ring));
  }

  /** Takes events out of the ring, oldest first, at most `maxEvents` (default: all). */
  drain(maxEvents = MOST_EVENTS): RingEvent[] {
    return addon().drainRing(this.#handle.get(), wholeNumber('maxEvents', maxEvents, 1, MOST_EVENTS));
  }

  /** As drain(), without an object for each event: for millions of them per second. */
  drainColumns(maxEvents = MOST_EVENTS): RingEventColumns {
    return addon().drainColumns(this.#handle.get(), wholeNumber('maxEvents', maxEvents, 1, MOST_EVENTS));
  }

  stats(): RingStats {
    return addon().ringStats(this.#handle.get());
  }

  /** Lets go of the ring and leaves its file as it was found. */
  close(): void {
    this.#handle.close();
  }
}

/** Looks on without taking anything; best effort, see ObserveResult. Begins at the oldest unread event. */
export class RingObserver {
  readonly path: string;
  readonly #handle: OpenHandle;

  /** Only observeRing() makes one. */
  constructor(path: string, handle: Handle) {
    this.path = pathText('path', path);
    this.#handle = new OpenHandle(path, handle, (ring) => addon().closeObserver(ring));
  }

  /** The events since the last look, at most `maxEvents` (default: all). */
  look(maxEvents = MOST_EVENTS): ObserveResult {
    const most = wholeNumber('maxEvents', maxEvents, 1, MOST_EVENTS);
    const { events, lapped, stalled, restarted, state, reason } = addon().observe(this.#handle.get(), most);
    return { events, lapped, stalled, restarted, state, reason };
  }

  /** As look(), without an object for each event: for millions of them per second. */
  lookColumns(maxEvents = MOST_EVENTS): ObserveResult<RingEventColumns> {
    const most = wholeNumber('maxEvents', maxEvents, 1, MOST_EVENTS);
    const { events, lapped, stalled, restarted, state, reason } = addon().observeColumns(this.#handle.get(), most);
    return { events, lapped, stalled, restarted, state, reason };
  }

  close(): void {
    this.#handle.close();
  }
}

/**
 * Opens a ring for draining: its events are then taken from everyone else.
 *
 * @throws NixlTelemetryError RING_UNAVAILABLE, whose message has the state (busy, corrupt, ...) and the reason
 */
export function openRing(path: string, options: OpenRingOptions = {}): Ring {
  const opened = addon().openRing(pathText('path', path), isForced(options));
  if (opened.handle) return new Ring(path, opened.handle);
  throw unavailable(path, opened.state, opened.reason);
}

/**
 * Opens a ring for looking on.
 *
 * @throws NixlTelemetryError RING_UNAVAILABLE
 */
export function observeRing(path: string, options: OpenRingOptions = {}): RingObserver {
  const opened = addon().openObserver(pathText('path', path), isForced(options));
  if (opened.handle) return new RingObserver(path, opened.handle);
  throw unavailable(path, opened.state, opened.reason);
}

/** Looks at a ring's header, and takes, holds and changes nothing. */
export function inspectRing(path: string, options: OpenRingOptions = {}): RingInspection {
  return addon().inspectRing(pathText('path', path), isForced(options));
}

/** Of each file, the process that writes it; undefined where none can be seen (any more). */
export function findWriters(paths: readonly string[]): (number | undefined)[] {
  return addon()
    .findWriters(listOf('paths', paths, pathText))
    .map((pid) => (pid === 0 ? undefined : pid));
}

/** @throws NixlTelemetryError CONFIG_INVALID */
export function isForced(options: OpenRingOptions): boolean {
  const { force = false } = optionsObject('options', options, ['force']);
  return trueOrFalse('force', force);
}

export function unavailable(path: string, state: RingState, reason: string): NixlTelemetryError {
  return new NixlTelemetryError('RING_UNAVAILABLE', `${path} is ${state}: ${reason}`, { path, state });
}
