/** Native part of the package: its interface, its loader, and its handles. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { types } from 'node:util';
import { invalid } from '../ground/arguments.js';
import { NixlTelemetryError, reasonOf } from '../ground/errors.js';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../ground/package.js';
import { howToAllow, howToBuild, isPrebuilt, nativeFiles, platformName } from './native-files.js';
import type { RawTally } from './raw-tally.js';
import type {
  EventBatch,
  ObservedRing,
  ObserveResult,
  PlaceStatus,
  RecoveredCounters,
  RecoveredCounts,
  RingEventColumns,
  RingInspection,
  RingStats,
  RingStatus,
  Snapshot,
  StateSummary,
  TapStats,
  TypeBatch,
} from './types.js';

/**
 * Version of the interface between C++ and TypeScript: functions, objects, and the order of words. It must equal
 * kInterfaceVersion in native/addon/words.h. Increment both with every change to either side.
 */
export const INTERFACE_VERSION = 21;

/** Opaque reference to an object of the addon: JavaScript only passes it back. */
export type Handle = { readonly __handle: unique symbol };

/** Numbers as 64-bit words, the interface version first; names in `strings`. */
export interface RawTotals {
  words: ArrayBuffer;
  strings: string[];
}

type Decoded =
  'takenMs' | 'problems' | 'problemCount' | 'stateProblems' | 'stateLosses' | 'openDirectories' | 'collector';

export interface RawSnapshot extends RawTotals, Pick<Snapshot, Decoded> {
  agents: number;
  places: Pick<PlaceStatus, 'state' | 'reason' | 'files' | 'hadRings' | 'space'>[];
}

export interface RawOpened extends RingStatus {
  handle?: Handle;
}

/** Options of a tap: the types to keep, or all, the capacity of the queue, and how many events of each agent and key; 0: all. */
export type RawTap = readonly [types: readonly number[] | 'all', capacity: number, first: number];

/** Exports of native/addon. It trusts its arguments: TypeScript checks them. */
export interface Addon {
  readonly interfaceVersion: number;
  openSource(
    options: {
      places: [directory: string, pattern: string][];
      drainIntervalMs: number;
      deadTtlMs: number;
      idleTtlMs: number;
      force: boolean;
      owners: readonly number[] | undefined;
      state: boolean;
      fill: boolean;
      /** 0: never. */
      removeEndedAfterMs: number;
      /** Beginnings of names, before a UUID, that no agent has twice. */
      freshNames: readonly string[];
      tally: RawTally;
    },
    taps: readonly RawTap[],
  ): { source: Handle; taps: Handle[] };
  /** Lets all threads of the process share freed memory, where the C library can. */
  shareFreedMemory(): void;
  closeSource(source: Handle): void;
  drainNow(limitMs: number): boolean;
  /** Starts the drain that drainNow() waits for. */
  requestDrain(): number;
  /** Ends the drains for this source, and starts a last one if another source needs it. */
  holdSource(source: Handle): number;
  isDrainServed(request: number): boolean;
  addReader(source: Handle): number;
  removeReader(source: Handle, reader: number): void;
  /**
   * Begins a snapshot, without `exponential` with empty exponential histograms, without `sizeClasses` without time by size.
   * `known`: id and layout of each agent whose texts are left out.
   */
  beginSnapshot(
    source: Handle,
    reader: number,
    exponential: boolean,
    sizeClasses: boolean,
    known: BigUint64Array,
  ): Handle;
  /** Returns the names of the words in their order. */
  wordOrder(): Readonly<
    Record<'agent' | 'tally' | 'event' | 'histogram' | 'direction' | 'sizeClass' | 'distribution', readonly string[]>
  >;
  /**
   * Adds agents to a snapshot, at most `mostAgents`. Returns the snapshot once it has all agents, undefined before. If the
   * collector thread is blocked and holds a lock, returns the milliseconds since its last tick: the snapshot has failed. `room`:
   * memory for the words, if they fit in it; the same in each call for a snapshot.
   */
  continueSnapshot(snapshot: Handle, room: ArrayBuffer, mostAgents: number): RawSnapshot | number | undefined;
  /** Checks a template of a page, see native/addon/page.cc and native/page/template.h. @throws Error if it does not fit. */
  makeTemplate(steps: Uint32Array, bytes: Uint8Array, familyEnds: Uint32Array, words: number, given: number): Handle;
  /** Appends families to a page, see native/addon/page.cc. @returns the page's new end, or -1 if the room is too small */
  fillPage(
    room: Uint8Array,
    end: number,
    heads: Uint8Array,
    headEnds: Uint32Array,
    flags: number,
    templates: readonly Handle[],
    words: ArrayBuffer,
    places: Uint32Array,
    given: Float64Array,
    first: number,
    familyEnds: Uint32Array,
  ): number;
  keepAttributes(source: Handle, agentId: number, text: string): void;
  /** Returns undefined for an agent whose sums began in this process, and for one that the source does not have. */
  recoveredCounts(
    source: Handle,
    agentId: number,
  ): (RawTotals & RecoveredCounters & Pick<RecoveredCounts, 'begunHistograms'>) | undefined;
  openTap(source: Handle, ...tap: RawTap): Handle;
  closeTap(source: Handle, tap: Handle): void;
  takeTapped(tap: Handle, most: number): TypeBatch;
  takeEvents(tap: Handle, most: number): EventBatch;
  setSampling(tap: Handle, keepOneIn: number): void;
  tapStats(tap: Handle): TapStats;
  openRing(path: string, force: boolean): RawOpened;
  closeRing(ring: Handle): void;
  drainColumns(ring: Handle, most: number): RingEventColumns;
  ringStats(ring: Handle): RingStats;
  inspectRing(path: string, force: boolean): RingInspection;
  readState(path: string): StateSummary | undefined;
  readState(path: string, tally: RawTally): (StateSummary & RawTotals) | undefined;
  findWriters(paths: readonly string[]): number[][];
  /** Returns a handle for removeEndedRing(), or the reason for which the file is no ring. */
  lookAtRing(path: string): Handle | string;
  /** Returns why the ring stays, or an empty text: it was removed, or with `dryRun` would be. Without `names` any name will do. */
  removeEndedRing(
    seen: Handle,
    path: string,
    names: readonly string[] | undefined,
    stateTtlMs: number,
    dryRun: boolean,
  ): string;
  /** Locks a directory until the handle is collected. Returns the reason why it cannot, such as `locked by another process`. */
  lockDirectory(path: string): Handle | string;
  /** With `tally` for observeAndTally() and tallyOf(), without it for observeColumns(). */
  openObserver(path: string, force: boolean, tally?: RawTally): RawOpened;
  closeObserver(observer: Handle): void;
  observeColumns(observer: Handle, most: number): ObserveResult<RingEventColumns>;
  observeAndTally(observer: Handle, most: number): ObservedRing;
  tallyOf(observer: Handle): RawTotals;
  openWriter(
    path: string,
    wireVersion: number,
    capacity: number,
  ): { handle: Handle } | { handle?: undefined; reason: string; inUse: boolean };
  closeWriter(writer: Handle): void;
  push(writer: Handle, type: number, name: string, category: number, timestampUs: bigint, value: bigint): boolean;
  pendingOf(writer: Handle): number;
  /** Returns why the writer accepts no further event, or an empty text. */
  writerFault(writer: Handle): '' | 'truncated' | 'overtaken';
}

let loaded: Addon | undefined;

/**
 * Loads the native part at its first use: the import of this package must not fail without it.
 * @throws NixlTelemetryError ADDON_MISSING, PLATFORM_UNSUPPORTED
 */
export function addon(): Addon {
  loaded ??= load();
  return loaded;
}

function load(): Addon {
  const named = process.env['NIXL_OTEL_ADDON'];
  if (named) return loadNamed(named);
  if (process.platform === 'linux') return loadFirst(nativeFiles('nixl_otel.node'));
  const reason = 'agents of NIXL run on Linux, and write their rings there';
  throw new NixlTelemetryError('PLATFORM_UNSUPPORTED', `there are no rings on ${platformName()}: ${reason}`);
}

/** Loads the file that NIXL_OTEL_ADDON names, and no other. @throws NixlTelemetryError ADDON_MISSING */
function loadNamed(named: string): Addon {
  const path = resolve(named);
  try {
    return loadFile(path);
  } catch (cause) {
    const reason = existsSync(path) ? reasonOf(cause) : 'no such file';
    const allowed = `allowed: the path of nixl_otel.node of ${PACKAGE_NAME} ${PACKAGE_VERSION} for ${platformName()}`;
    throw new NixlTelemetryError('ADDON_MISSING', `NIXL_OTEL_ADDON is ${named}: ${reason}; ${allowed}`, {
      path,
      cause,
    });
  }
}

/**
 * Loads the first file that fits. `platform`: for which the files are.
 * @throws NixlTelemetryError ADDON_MISSING, PLATFORM_UNSUPPORTED, with the reason for each path.
 */
export function loadFirst(paths: readonly string[], platform = platformName()): Addon {
  const tried: string[] = [];
  let cause: unknown;
  let mend: string | undefined;
  for (const path of paths) {
    if (!existsSync(path)) {
      tried.push(`${path}: no such file`);
      continue;
    }
    try {
      return loadFile(path);
    } catch (error) {
      tried.push(`${path}: ${reasonOf(error)}`);
      mend ??= howToAllow(path, error);
      cause = error; // a build for another machine or version must not hide a later binary that fits
    }
  }
  throw new NixlTelemetryError(
    isPrebuilt(platform) ? 'ADDON_MISSING' : 'PLATFORM_UNSUPPORTED',
    [`no native part for ${platform} could be loaded; ${mend ?? howToBuild()}; tried`, ...tried].join('\n  '),
    { path: paths[0]!, cause },
  );
}

/** Calls process.dlopen(), because modules that replace `require` (require-in-the-middle) fail on paths of binaries. */
function loadFile(path: string): Addon {
  const module = { exports: {} as Addon };
  process.dlopen(module, path);
  checkVersion(module.exports.interfaceVersion);
  return module.exports;
}

/**
 * Refuses a binary that was built from other sources than this JavaScript.
 * @throws NixlTelemetryError ADDON_MISSING, with both versions
 */
export function checkVersion(found: number | undefined): void {
  if (found === INTERFACE_VERSION) return;
  const versions = `interface version ${found ?? 'none'}, and this package needs ${INTERFACE_VERSION}`;
  throw new NixlTelemetryError('ADDON_MISSING', `the native part has ${versions}: rebuild it, the binary is stale`);
}

/** Deno has no types.isExternal(). There, as in Node.js, a handle is an object without a prototype. */
function isHandle(given: unknown): boolean {
  const { isExternal } = types as Partial<typeof types>;
  if (isExternal !== undefined) return isExternal(given);
  return typeof given === 'object' && given !== null && Object.getPrototypeOf(given) === null;
}

/** @throws NixlTelemetryError RING_UNAVAILABLE */
export function handleOf(path: string, { handle, state, reason }: RawOpened): Handle {
  if (handle !== undefined) return handle;
  throw new NixlTelemetryError('RING_UNAVAILABLE', `${path} is ${state}: ${reason}`, { path, state });
}

/** Handle of an open object of the addon. close() releases it. */
export class OpenHandle {
  readonly #path: string;
  readonly #release: (handle: Handle) => void;
  readonly #subject: string;
  #handle: Handle | undefined;

  /**
   * Checks that `handle` is a handle, because the addon trusts it. `subject`: subject of error messages.
   * @throws NixlTelemetryError CONFIG_INVALID
   */
  constructor(path: string, handle: Handle, release: (handle: Handle) => void, subject = `the ring ${path}`) {
    if (!isHandle(handle)) {
      throw invalid(`${subject} has no handle: open it with a function of this module, not with new`);
    }
    this.#path = path;
    this.#handle = handle;
    this.#release = release;
    this.#subject = subject;
  }

  /** @throws NixlTelemetryError RING_CLOSED */
  get(): Handle {
    if (this.#handle !== undefined) return this.#handle;
    throw new NixlTelemetryError('RING_CLOSED', `${this.#subject} is closed`, { path: this.#path });
  }

  close(): void {
    if (this.#handle !== undefined) this.#release(this.#handle);
    this.#handle = undefined;
  }
}
