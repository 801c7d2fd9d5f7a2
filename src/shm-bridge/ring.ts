/** Single rings: drained, observed passively, or inspected. */
import { pathArgument, listOf, optionsObject, trueOrFalse, wholeNumberArgument } from '../ground/arguments.js';
import { addon, type Handle, handleOf, OpenHandle } from './addon.js';
import type { ObserveResult, RingEvent, RingEventColumns, RingInspection, RingStats, StateSummary } from './types.js';

const MOST_EVENTS = 2 ** 24;

export interface OpenRingOptions {
  /** Opens rings on NFS, 9p, virtiofs and FUSE, too; default false. */
  force?: boolean;
}

/** A ring that is drained by hand. The same file opened twice in one process is one ring. */
export class Ring {
  readonly path: string;
  readonly #handle: OpenHandle;

  /** Use openRing(). */
  constructor(path: string, handle: Handle) {
    this.path = pathArgument('path', path);
    this.#handle = new OpenHandle(path, handle, (ring) => addon().closeRing(ring));
  }

  /** Drains events, oldest first, at most `maxEvents` (default: all). */
  drain(maxEvents = MOST_EVENTS): RingEvent[] {
    return eventsOf(this.drainColumns(maxEvents));
  }

  /** drain() in columns, without an object per event: for millions of events per second. */
  drainColumns(maxEvents = MOST_EVENTS): RingEventColumns {
    return addon().drainColumns(this.#handle.get(), wholeNumberArgument('maxEvents', maxEvents, 1, MOST_EVENTS));
  }

  stats(): RingStats {
    return addon().ringStats(this.#handle.get());
  }

  /** Releases the ring and restores the header field that held the mark. */
  close(): void {
    this.#handle.close();
  }
}

/** Observes a ring passively, from its oldest unread event on. Best effort, see ObserveResult. */
export class RingObserver {
  readonly path: string;
  readonly #handle: OpenHandle;

  /** Use observeRing(). */
  constructor(path: string, handle: Handle) {
    this.path = pathArgument('path', path);
    this.#handle = new OpenHandle(path, handle, (ring) => addon().closeObserver(ring));
  }

  /** Returns the events since the previous call, at most `maxEvents` (default: all). */
  observe(maxEvents = MOST_EVENTS): ObserveResult {
    const seen = this.observeColumns(maxEvents);
    return { ...seen, events: eventsOf(seen.events) };
  }

  /** observe() in columns, without an object per event: for millions of events per second. */
  observeColumns(maxEvents = MOST_EVENTS): ObserveResult<RingEventColumns> {
    return addon().observeColumns(this.#handle.get(), wholeNumberArgument('maxEvents', maxEvents, 1, MOST_EVENTS));
  }

  close(): void {
    this.#handle.close();
  }
}

/** Returns an object for each event. */
function eventsOf({ kinds, kindOf, values, timestampsUs }: RingEventColumns): RingEvent[] {
  return Array.from(values, (value, i) => {
    const { timestamped, ...kind } = kinds[kindOf[i]!]!;
    return timestamped ? { ...kind, timestampUs: timestampsUs[i]!, value } : { ...kind, value };
  });
}

/**
 * Opens a ring for draining. Other consumers do not get the events that it drains.
 * @throws NixlTelemetryError RING_UNAVAILABLE with the state (busy, corrupt, ...) and the reason; CONFIG_INVALID
 */
export function openRing(path: string, options: OpenRingOptions = {}): Ring {
  return new Ring(path, handleOf(path, addon().openRing(pathArgument('path', path), isForced(options))));
}

/** Opens a ring for passive observation. @throws NixlTelemetryError RING_UNAVAILABLE, CONFIG_INVALID */
export function observeRing(path: string, options: OpenRingOptions = {}): RingObserver {
  return new RingObserver(path, handleOf(path, addon().openObserver(pathArgument('path', path), isForced(options))));
}

/** Reads a ring's header. Consumes, locks and changes nothing. */
export function inspectRing(path: string, options: OpenRingOptions = {}): RingInspection {
  return addon().inspectRing(pathArgument('path', path), isForced(options));
}

/** Returns the positions of a ring, slots; undefined if the file cannot be read. */
export function positionsOf(path: string) {
  const { readPos, writePos, pending } = inspectRing(path);
  if (readPos === undefined || writePos === undefined || pending === undefined) return undefined;
  return { readPos, writePos, pending };
}

/**
 * Reads the state file of a ring, without a lock. Returns undefined if this user has none for the ring that is at the
 * path now.
 */
export function readState(path: string): StateSummary | undefined {
  return addon().readState(pathArgument('path', path));
}

/** Loads the native part, so that a platform without rings is reported before a missing directory. @throws as addon() */
export function requireRings(): void {
  addon();
}

/**
 * Returns, for each file, the pids of the processes that can write it, the youngest first; none if none can be seen. A
 * consumer of another package maps a ring as a writer does. Children that inherited a mapping are none.
 */
export function findWriters(paths: readonly string[]): number[][] {
  return addon().findWriters(listOf('paths', paths, pathArgument));
}

/** Checks the options. @throws NixlTelemetryError CONFIG_INVALID */
export function isForced(options: OpenRingOptions): boolean {
  const { force = false } = optionsObject('options', options, ['force']);
  return trueOrFalse('force', force);
}
