import { basename, dirname, resolve } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { invalid, listOf, optionsObject } from '../arguments.js';
import { NixlTelemetryError } from '../errors.js';
import { addon, type Handle, type RawSnapshot } from './addon.js';
import { pathText, trueOrFalse, wholeNumber } from './checks.js';
import { rawTally, type RawTally } from './raw-tally.js';
import { decodeSnapshot, type Place } from './snapshot.js';
import type {
  EventBatch,
  EventQueueOptions,
  Snapshot,
  SourceOptions,
  TallyOptions,
  TapBatch,
  TapOptions,
  TapStats,
} from './types.js';

/** How long a drain waits for the collector's thread, milliseconds: only a frozen disk or debugger takes as long. */
const DRAIN_LIMIT_MS = 2000;
/** A drain takes less than this as a rule; a timer would be late for it. */
const SHORT_DRAIN_MS = 2;
const LONGEST_PAUSE_MS = 20;

/** The number of those who take snapshots without being a reader. */
const NO_READER = 0;

/** Events on their way to JavaScript, in a bounded queue. */
export interface EventTap {
  /** The oldest events, at most `maxEvents`. */
  take(maxEvents: number): TapBatch;
  /** Keeps one event in n of each agent and type; 1 keeps all. */
  setSampling(n: number): void;
  stats(): TapStats;
  close(): void;
}

/** All raw events, in a bounded queue. What did not fit is counted in stats(), and metrics do not depend on it. */
export interface EventQueue {
  /** The oldest events, at most `maxEvents`. */
  take(maxEvents: number): EventBatch;
  stats(): TapStats;
  close(): void;
}

/** One who takes snapshots at an interval of its own. */
export interface SnapshotReader {
  /** Everything so far; throws SOURCE_CLOSED after the source's close(). */
  snapshot(): Snapshot;
  close(): void;
}

/** Directories and globs whose rings are found and drained by the process's collector thread until close(). */
export interface RingSource {
  /** Everything so far; throws SOURCE_CLOSED after close(). */
  snapshot(): Snapshot;
  /** A dead agent stays, beyond its TTL, until each open reader has had its last values (but at most ten minutes). */
  openReader(): SnapshotReader;
  /**
   * Looks for new rings and drains all of them now, and waits for it: typically well under a millisecond, and at most
   * `limitMs`, default 2000.
   */
  drainNow(limitMs?: number): void;
  /** The same without holding up the event loop. Resolves after two seconds where the collector's thread is held up. */
  drain(): Promise<void>;
  /** The tap that was asked for in the options, until it is closed. */
  readonly tap: EventTap | undefined;
  /** A further tap: of what is drained from now on. */
  openTap(options: TapOptions): EventTap;
  /** The queue that was asked for in the options, until it is closed. */
  readonly events: EventQueue | undefined;
  /** A further queue: of what is drained from now on. */
  openEvents(options?: EventQueueOptions): EventQueue;
  close(): void;
  readonly closed: boolean;
}

/**
 * Begins to find and drain rings. Reading takes the events out of the rings: one consumer per ring.
 *
 * @throws NixlTelemetryError CONFIG_INVALID, ADDON_MISSING
 */
export function openSource(options: SourceOptions): RingSource {
  const { tally, owners } = optionsObject('options', options, OPTIONS);
  const { drainIntervalMs = 20, deadTtlMs = 30_000, idleTtlMs = 0, force = false } = options;
  const raw = rawTally(tally);
  const places = placesOf(options);
  const settings = {
    places: places.map(rawPlace),
    drainIntervalMs: wholeNumber('drainIntervalMs', drainIntervalMs, 1, 10_000),
    deadTtlMs: wholeNumber('deadTtlMs', deadTtlMs, 0, 2 ** 40),
    idleTtlMs: wholeNumber('idleTtlMs', idleTtlMs, 0, 2 ** 40),
    force: trueOrFalse('force', force),
    owners: owners && listOf('owners', owners, (name, user) => wholeNumber(name, user, 0, 2 ** 32 - 2)),
    tally: raw,
  };
  const taps: [readonly number[] | 'all', number][] = [];
  if (options.tap !== undefined) {
    const { types, capacity } = checkedTap(options.tap, tally);
    taps.push([types, capacity]);
  }
  if (options.events !== undefined) taps.push(['all', queueCapacity(options.events)]);
  return new NativeSource(addon().openSource(settings, taps), options, raw, places);
}

const OPTIONS = [
  'directories',
  'globs',
  'drainIntervalMs',
  'deadTtlMs',
  'idleTtlMs',
  'force',
  'owners',
  'tally',
  'tap',
  'events',
] as const;

/** @throws NixlTelemetryError CONFIG_INVALID */
function checkedTap(options: TapOptions, tally: TallyOptions): Required<TapOptions> {
  const { types, capacity } = optionsObject('tap', options, ['types', 'capacity']);
  const most = Math.min(63, tally.types.length - 1);
  listOf('tap.types', types, (name, type) => wholeNumber(name, type, 0, most));
  return { types, capacity: queueCapacity(capacity === undefined ? {} : { capacity }) };
}

function queueCapacity(options: EventQueueOptions): number {
  const { capacity = 65_536 } = optionsObject('events', options, ['capacity']);
  return wholeNumber('tap capacity', capacity, 1, 1_048_576);
}

function placesOf(options: SourceOptions): Place[] {
  const places: Place[] = [];
  const { directories = [], globs = [] } = options;
  for (const given of listOf('directories', directories, pathText)) {
    places.push({ given, path: resolve(given), isGlob: false });
  }
  for (const given of listOf('globs', globs, pathText)) {
    const directory = dirname(given);
    if (/[*?[]/.test(directory)) throw invalid(`globs has ${given}: only its last part may have * and ?`);
    places.push({ given, path: resolve(directory, basename(given)), isGlob: true });
  }
  if (places.length > 0) return places;
  throw invalid('directories and globs are both empty: name at least one place');
}

/** Directory, and pattern of the file names in it. */
function rawPlace({ path, isGlob }: Place): [string, string] {
  return isGlob ? [dirname(path), basename(path)] : [path, ''];
}

/** The snapshot before the first one, while the collector's thread is held up. */
const NOTHING_YET: RawSnapshot = {
  takenMs: 0,
  agents: 0,
  words: new ArrayBuffer(0),
  strings: [],
  problems: [],
  problemCount: 0,
  openDirectories: [],
  places: [],
  collector: { drainIntervalMs: 0, ticks: 0, lateTicks: 0, maxLagMs: 0, lastLagMs: 0, sinceTickMs: 0 },
};

class NativeSource implements RingSource {
  #handle: Handle | undefined;
  #tap: EventTap | undefined;
  #events: EventQueue | undefined;
  readonly #options: SourceOptions;
  readonly #tally: RawTally;
  readonly #places: readonly Place[];
  #last: RawSnapshot | undefined;
  /** A drain that was waited for in vain. */
  #unserved: number | undefined;

  constructor(
    { source, taps }: { source: Handle; taps: Handle[] },
    options: SourceOptions,
    tally: RawTally,
    places: readonly Place[],
  ) {
    this.#handle = source;
    this.#options = options;
    this.#tally = tally;
    this.#places = places;
    if (options.tap !== undefined) {
      this.#tap = this.#eventTap(source, taps.shift()!, () => (this.#tap = undefined));
    }
    if (options.events !== undefined) {
      this.#events = this.#eventQueue(source, taps.shift()!, () => (this.#events = undefined));
    }
  }

  get tap(): EventTap | undefined {
    return this.#tap;
  }

  get events(): EventQueue | undefined {
    return this.#events;
  }

  get closed(): boolean {
    return this.#handle === undefined;
  }

  snapshot(): Snapshot {
    return this.#snapshotFor(NO_READER);
  }

  openReader(): SnapshotReader {
    const source = this.#open();
    const reader = addon().addReader(source);
    return {
      snapshot: () => this.#snapshotFor(reader),
      close: () => addon().removeReader(source, reader),
    };
  }

  #snapshotFor(reader: number): Snapshot {
    const found = addon().snapshot(this.#open(), reader);
    if (typeof found !== 'number') {
      this.#last = found;
      return decodeSnapshot(found, this.#tally, this.#places);
    }
    const last = this.#last ?? { ...NOTHING_YET, takenMs: Date.now() };
    const places = this.#last === undefined ? [] : this.#places;
    return decodeSnapshot({ ...last, collector: { ...last.collector, sinceTickMs: found } }, this.#tally, places);
  }

  drainNow(limitMs = DRAIN_LIMIT_MS): void {
    this.#open();
    addon().drainNow(wholeNumber('limitMs', limitMs, 0, 2 ** 31 - 1));
  }

  async drain(): Promise<void> {
    this.#open();
    const isHeldUp = this.#unserved !== undefined && !addon().isDrainServed(this.#unserved);
    const request = addon().requestDrain();
    if (isHeldUp) return; // another has waited for it already
    const beganMs = performance.now();
    for (let pauseMs = 1; !this.closed && !addon().isDrainServed(request);) {
      const waitedMs = performance.now() - beganMs;
      if (waitedMs > DRAIN_LIMIT_MS) {
        this.#unserved = request;
        return;
      }
      await (waitedMs < SHORT_DRAIN_MS ? setImmediate() : setTimeout(pauseMs));
      if (waitedMs >= SHORT_DRAIN_MS) pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  }

  openTap(options: TapOptions): EventTap {
    const { types, capacity } = checkedTap(options, this.#options.tally);
    const source = this.#open();
    return this.#eventTap(source, addon().openTap(source, types, capacity), () => {});
  }

  openEvents(options: EventQueueOptions = {}): EventQueue {
    const source = this.#open();
    return this.#eventQueue(source, addon().openTap(source, 'all', queueCapacity(options)), () => {});
  }

  close(): void {
    if (this.#handle !== undefined) addon().closeSource(this.#handle);
    this.#handle = undefined;
  }

  #eventQueue(source: Handle, tap: Handle, onClose: () => void): EventQueue {
    return {
      take: (maxEvents) => addon().takeEvents(tap, wholeNumber('maxEvents', maxEvents, 1, 1_048_576)),
      stats: () => addon().tapStats(tap),
      close: closeOnce(source, tap, onClose),
    };
  }

  #eventTap(source: Handle, tap: Handle, onClose: () => void): EventTap {
    return {
      take: (maxEvents) => addon().takeTapped(tap, wholeNumber('maxEvents', maxEvents, 1, 1_048_576)),
      setSampling: (n) => addon().setSampling(tap, wholeNumber('sampling', n, 1, 2 ** 40)),
      stats: () => addon().tapStats(tap),
      close: closeOnce(source, tap, onClose),
    };
  }

  #open(): Handle {
    if (this.#handle !== undefined) return this.#handle;
    throw new NixlTelemetryError('SOURCE_CLOSED', 'this source is closed');
  }
}

function closeOnce(source: Handle, tap: Handle, onClose: () => void): () => void {
  let closed = false;
  return () => {
    if (closed) return;
    closed = true;
    addon().closeTap(source, tap);
    onClose();
  };
}
