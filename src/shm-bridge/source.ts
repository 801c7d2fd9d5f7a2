/** Sources: rings that the collector thread finds and drains. */
import { basename, dirname, resolve } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import {
  check,
  pathArgument,
  invalid,
  isText,
  listOf,
  optionsObject,
  trueOrFalse,
  wholeNumberArgument,
} from '../ground/arguments.js';
import { NixlTelemetryError } from '../ground/errors.js';
import {
  DEAD_TTL_RANGE,
  DEFAULT_DEAD_TTL_MS,
  DEFAULT_DRAIN_INTERVAL_MS,
  DRAIN_INTERVAL_RANGE,
  LONGEST_MS,
  MOST_ATTRIBUTE_BYTES,
  USER_ID_RANGE,
} from '../ground/source-limits.js';
import { atOnce, inSlices, type Steps, TimeSlices } from '../ground/time-slices.js';
import { FRESH_NAMES } from '../engines/engine-rows.js';
import { addon, type Handle, type RawSnapshot, type RawTap } from './addon.js';
import type { KeptSnapshot } from './kept-snapshot.js';
import { rawTally, type RawTally } from './raw-tally.js';
import { decodeSnapshot, decodeTally, type Place } from './snapshot.js';
import type {
  EventBatch,
  EventTapOptions,
  RecoveredCounts,
  Snapshot,
  SourceOptions,
  TapStats,
  TypeBatch,
  TypeTapOptions,
} from './types.js';

/** Limit of a drain, milliseconds: only a frozen disk or a debugger delays the collector thread that long. */
const DRAIN_LIMIT_MS = 2000;
/** Usual longest time of a drain. For this time drain() yields without a timer, because a timer would fire late. */
const SHORT_DRAIN_MS = 2;
const LONGEST_PAUSE_MS = 20;

/** Reader number of snapshots that are taken without a reader. */
const NO_READER = 0;
/** Agents of a snapshot that are read without a turn for other work: the native part needs up to 20 us for each. */
const AGENTS_OF_STEP = 32;
const NO_ROOM = new ArrayBuffer(0);
const NO_AGENTS = new BigUint64Array(0);

/** Bounded queue of events on their way to JavaScript. Events that do not fit are only counted; metrics stay exact. */
export interface EventTap<Batch = EventBatch> {
  /** Returns the oldest events, at most `maxEvents`. */
  take(maxEvents: number): Batch;
  /** Keeps one event in n of each agent and key; 1 keeps all. */
  setSampling(n: number): void;
  stats(): TapStats;
  close(): void;
}

/** What a snapshot is for. */
export interface SnapshotWants {
  /** False leaves the exponential histograms of all tallies empty, which halves the cost. Default: true. */
  readonly exponential?: boolean;
  /** True adds time by size to all tallies. Default: false. */
  readonly sizeClasses?: boolean;
  /** The snapshot to update. Default: a new one. */
  readonly kept?: KeptSnapshot | undefined;
}

/** Takes the snapshots of one reader. */
export interface SnapshotReader {
  /** Returns the totals so far. @throws NixlTelemetryError SOURCE_CLOSED after the source's close() */
  snapshot(wants?: SnapshotWants): Snapshot;
  /**
   * snapshot() in slices, for hundreds of agents: each agent is read at one time, different agents at different ones. Resolves
   * to undefined if the source is closed meanwhile. `wants.kept` must not be used before the end.
   */
  snapshotInSlices(slices: TimeSlices, wants?: SnapshotWants): Promise<Snapshot | undefined>;
  close(): void;
}

/** Directories and globs. The collector thread of this process finds and drains their rings until close(). */
export interface RingSource {
  /** Returns the totals so far. @throws NixlTelemetryError SOURCE_CLOSED after close() */
  snapshot(wants?: SnapshotWants): Snapshot;
  /** snapshot() in slices, see SnapshotReader.snapshotInSlices. */
  snapshotInSlices(slices: TimeSlices, wants?: SnapshotWants): Promise<Snapshot | undefined>;
  /** Opens a reader. Dead agents are kept beyond their TTL until each open reader has read them, at most ten minutes. */
  openReader(): SnapshotReader;
  /** Finds new rings, drains all rings, and waits: usually below a millisecond, at most `limitMs` (default 2000). */
  drainNow(limitMs?: number): void;
  /** drainNow() without blocking the event loop. Resolves after two seconds if the collector thread is blocked. */
  drain(): Promise<void>;
  /**
   * Drains a last time: totals and taps then stay as they are until close(), so that a last snapshot has every event that was
   * taken out of the rings. Other open sources of the process that are not held still need their events: then all of them go on.
   */
  hold(): Promise<void>;
  /**
   * Keeps a text with the agent's state file, for the next process: its AgentSnapshot.keptAttributes. At most 4096 bytes of
   * UTF-8; none with an empty text. No effect without SourceOptions.state, and for an agent that the source no longer has.
   */
  keepAttributes(agentId: number, text: string): void;
  /**
   * Returns the counts that the agent continued from; undefined if its counts began in this process, see
   * AgentSnapshot.recovered, if the source no longer has the agent, or if the collector thread is blocked.
   */
  recoveredCounts(agentId: number): RecoveredCounts | undefined;
  /** Tap of the option `eventTap`, until it is closed. */
  readonly eventTap: EventTap | undefined;
  /** Tap of the option `typeTap`, until it is closed. */
  readonly typeTap: EventTap<TypeBatch> | undefined;
  /** Opens a further tap of all events that are drained from now on. */
  openEventTap(options?: EventTapOptions): EventTap;
  /** Opens a further tap of some types that are drained from now on. */
  openTypeTap(options: TypeTapOptions): EventTap<TypeBatch>;
  close(): void;
  readonly closed: boolean;
}

/**
 * Starts to find and drain rings. Draining consumes their events: a ring has one consumer.
 * @throws NixlTelemetryError CONFIG_INVALID, ADDON_MISSING
 */
export function openSource(options: SourceOptions): RingSource {
  const { tally, owners, eventTap, typeTap } = optionsObject('options', options, OPTIONS);
  const { drainIntervalMs = DEFAULT_DRAIN_INTERVAL_MS, deadTtlMs = DEFAULT_DEAD_TTL_MS, idleTtlMs = 0 } = options;
  const { force = false, state = false, allocatePages = false, removeEndedAfterMs = 0 } = options;
  const raw = rawTally(tally);
  const places = placesOf(options);
  const settings = {
    places: places.map(rawPlace),
    drainIntervalMs: wholeNumberArgument('drainIntervalMs', drainIntervalMs, ...DRAIN_INTERVAL_RANGE),
    deadTtlMs: wholeNumberArgument('deadTtlMs', deadTtlMs, ...DEAD_TTL_RANGE),
    idleTtlMs: wholeNumberArgument('idleTtlMs', idleTtlMs, 0, LONGEST_MS),
    force: trueOrFalse('force', force),
    owners: owners && listOf('owners', owners, (name, user) => wholeNumberArgument(name, user, ...USER_ID_RANGE)),
    state: trueOrFalse('state', state),
    fill: trueOrFalse('allocatePages', allocatePages),
    removeEndedAfterMs: wholeNumberArgument('removeEndedAfterMs', removeEndedAfterMs, 0, LONGEST_MS),
    freshNames: FRESH_NAMES,
    tally: raw,
  };
  const eventTaps = eventTap === undefined ? [] : [eventTapOf(eventTap)];
  const typeTaps = typeTap === undefined ? [] : [typeTapOf(typeTap, raw)];
  const { source, taps } = addon().openSource(settings, [...eventTaps, ...typeTaps]);
  return new NativeSource(source, raw, places, {
    event: taps[eventTaps.length - 1],
    type: typeTap === undefined ? undefined : taps.at(-1),
  });
}

const OPTIONS = [
  'directories',
  'globs',
  'drainIntervalMs',
  'deadTtlMs',
  'idleTtlMs',
  'force',
  'owners',
  'state',
  'allocatePages',
  'removeEndedAfterMs',
  'tally',
  'eventTap',
  'typeTap',
] as const;

/** @throws NixlTelemetryError CONFIG_INVALID */
function eventTapOf(options: EventTapOptions): RawTap {
  const { capacity } = optionsObject('eventTap', options, ['capacity']);
  return ['all', tapCapacity('eventTap', capacity), 0];
}

/** @throws NixlTelemetryError CONFIG_INVALID */
function typeTapOf(options: TypeTapOptions, tally: RawTally): RawTap {
  const { types, capacity, first = 0 } = optionsObject('typeTap', options, ['types', 'capacity', 'first']);
  const most = Math.min(63, tally.types.length - 1);
  listOf('typeTap.types', types, (name, type) => wholeNumberArgument(name, type, 0, most));
  return [types, tapCapacity('typeTap', capacity), wholeNumberArgument('typeTap.first', first, 0, 2 ** 40)];
}

function tapCapacity(name: string, capacity = 65_536): number {
  return wholeNumberArgument(`${name}.capacity`, capacity, 1, 1_048_576);
}

function placesOf({ directories = [], globs = [] }: SourceOptions): Place[] {
  const places: Place[] = [];
  for (const given of listOf('directories', directories, pathArgument)) {
    places.push({ given, path: resolve(given), isGlob: false });
  }
  for (const given of listOf('globs', globs, pathArgument)) {
    const directory = dirname(given);
    if (/[*?[]/.test(directory)) throw invalid(`globs has ${given}: only its last part may have * and ?`);
    places.push({ given, path: resolve(directory, basename(given)), isGlob: true });
  }
  if (places.length > 0) return places;
  throw invalid('directories and globs are both empty: name at least one place');
}

/** Returns a directory, and the pattern of file names in it. */
function rawPlace({ path, isGlob }: Place): [string, string] {
  return isGlob ? [dirname(path), basename(path)] : [path, ''];
}

class NativeSource implements RingSource {
  #handle: Handle | undefined;
  eventTap: EventTap | undefined;
  typeTap: EventTap<TypeBatch> | undefined;
  readonly #tally: RawTally;
  readonly #places: readonly Place[];
  /** Last snapshots by the parts that they have. */
  readonly #last = new Map<number, RawSnapshot>();
  /** Request of the last drain that timed out. */
  #unserved: number | undefined;

  constructor(
    source: Handle,
    tally: RawTally,
    places: readonly Place[],
    taps: { readonly event: Handle | undefined; readonly type: Handle | undefined },
  ) {
    this.#handle = source;
    this.#tally = tally;
    this.#places = places;
    this.eventTap = taps.event && tapOf(source, taps.event, takeEvents, () => (this.eventTap = undefined));
    this.typeTap = taps.type && tapOf(source, taps.type, takeTypes, () => (this.typeTap = undefined));
  }

  get closed(): boolean {
    return this.#handle === undefined;
  }

  snapshot(wants?: SnapshotWants): Snapshot {
    return atOnce(this.#snapshotFor(NO_READER, wants ?? {}))!;
  }

  snapshotInSlices(slices: TimeSlices, wants?: SnapshotWants): Promise<Snapshot | undefined> {
    return this.#inSlices(NO_READER, slices, wants);
  }

  openReader(): SnapshotReader {
    const source = this.#open();
    const reader = addon().addReader(source);
    return {
      snapshot: (wants) => atOnce(this.#snapshotFor(reader, wants ?? {}))!,
      snapshotInSlices: (slices, wants) => this.#inSlices(reader, slices, wants),
      close: () => addon().removeReader(source, reader),
    };
  }

  #inSlices(reader: number, slices: TimeSlices, wants: SnapshotWants = {}): Promise<Snapshot | undefined> {
    check(slices instanceof TimeSlices, 'slices', slices, 'TimeSlices');
    return inSlices(this.#snapshotFor(reader, wants), slices);
  }

  /**
   * Returns undefined if the source is closed between two steps. While the collector thread is blocked, repeats the last snapshot
   * with the age of the thread's last tick.
   */
  *#snapshotFor(
    reader: number,
    { exponential = true, sizeClasses = false, kept }: SnapshotWants,
  ): Steps<Snapshot | undefined> {
    const begun = addon().beginSnapshot(this.#open(), reader, exponential, sizeClasses, kept?.known() ?? NO_AGENTS);
    const parts = Number(exponential) | (Number(sizeClasses) << 1);
    const room = kept?.room() ?? NO_ROOM;
    let found: RawSnapshot | number | undefined;
    while ((found = addon().continueSnapshot(begun, room, AGENTS_OF_STEP)) === undefined) {
      yield;
      if (this.closed) return undefined;
    }
    if (typeof found !== 'number') {
      if (kept !== undefined) return yield* kept.decode(found, this.#tally, this.#places);
      this.#last.set(parts, found);
      return yield* decodeSnapshot(found, this.#tally, this.#places);
    }
    if (kept?.last !== undefined) return { ...kept.last, collector: { ...kept.last.collector, sinceTickMs: found } };
    const last = this.#last.get(parts) ?? this.#last.values().next().value;
    if (last === undefined) return emptySnapshot(found);
    const collector = { ...last.collector, sinceTickMs: found };
    return yield* decodeSnapshot({ ...last, collector }, this.#tally, this.#places);
  }

  drainNow(limitMs = DRAIN_LIMIT_MS): void {
    this.#open();
    addon().drainNow(wholeNumberArgument('limitMs', limitMs, 0, 2 ** 31 - 1));
  }

  drain(): Promise<void> {
    this.#open();
    return this.#served(() => addon().requestDrain());
  }

  async hold(): Promise<void> {
    await this.drain();
    if (!this.closed) await this.#served(() => addon().holdSource(this.#open()));
  }

  /** Waits for the drain that `makeRequest` requests. */
  async #served(makeRequest: () => number): Promise<void> {
    const isBlocked = this.#unserved !== undefined && !addon().isDrainServed(this.#unserved);
    const request = makeRequest();
    if (isBlocked) return; // an earlier call has already waited until the limit
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

  keepAttributes(agentId: number, text: string): void {
    const source = this.#open();
    const isRight = (text === '' || isText(text)) && Buffer.byteLength(text) <= MOST_ATTRIBUTE_BYTES;
    check(isRight, 'text', text, `a text of at most ${MOST_ATTRIBUTE_BYTES} bytes`);
    addon().keepAttributes(source, agentIdOf(agentId), text);
  }

  recoveredCounts(agentId: number): RecoveredCounts | undefined {
    const raw = addon().recoveredCounts(this.#open(), agentIdOf(agentId));
    if (raw === undefined) return undefined;
    const { words, strings, ...counters } = raw;
    return { ...decodeTally({ words, strings }, this.#tally), ...counters };
  }

  openEventTap(options: EventTapOptions = {}): EventTap {
    const source = this.#open();
    return tapOf(source, addon().openTap(source, ...eventTapOf(options)), takeEvents);
  }

  openTypeTap(options: TypeTapOptions): EventTap<TypeBatch> {
    const source = this.#open();
    return tapOf(source, addon().openTap(source, ...typeTapOf(options, this.#tally)), takeTypes);
  }

  close(): void {
    if (this.#handle !== undefined) addon().closeSource(this.#handle);
    this.#handle = undefined;
  }

  #open(): Handle {
    if (this.#handle !== undefined) return this.#handle;
    throw new NixlTelemetryError('SOURCE_CLOSED', 'this source is closed');
  }
}

function agentIdOf(agentId: number): number {
  return wholeNumberArgument('agentId', agentId, 1, Number.MAX_SAFE_INTEGER);
}

/** Snapshot before the first one, while the collector thread is blocked. */
function emptySnapshot(sinceTickMs: number): Snapshot {
  return {
    takenMs: Date.now(),
    agents: [],
    problems: [],
    problemCount: 0,
    stateProblems: [],
    stateLosses: [],
    openDirectories: [],
    places: [],
    collector: { drainIntervalMs: 0, ticks: 0, lateTicks: 0, maxLagMs: 0, sinceTickMs },
  };
}

const takeEvents = (tap: Handle, most: number): EventBatch => addon().takeEvents(tap, most);
const takeTypes = (tap: Handle, most: number): TypeBatch => addon().takeTapped(tap, most);

function tapOf<Batch>(
  source: Handle,
  tap: Handle,
  take: (tap: Handle, most: number) => Batch,
  onClose: () => void = () => {},
): EventTap<Batch> {
  let closed = false;
  return {
    take: (maxEvents) => take(tap, wholeNumberArgument('maxEvents', maxEvents, 1, 1_048_576)),
    setSampling: (n) => addon().setSampling(tap, wholeNumberArgument('sampling', n, 1, 2 ** 40)),
    stats: () => addon().tapStats(tap),
    close() {
      if (closed) return;
      closed = true;
      addon().closeTap(source, tap);
      onClose();
    },
  };
}
