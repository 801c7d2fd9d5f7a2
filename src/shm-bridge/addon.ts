import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { NixlTelemetryError, reasonOf } from '../errors.js';
import { howToBuild, nativeFiles, platformName } from './native-files.js';
import type { RawTally } from './raw-tally.js';
import type {
  CollectorStats,
  EventBatch,
  ObservedRing,
  ObserveResult,
  PlaceStatus,
  RingEvent,
  RingEventColumns,
  RingInspection,
  RingProblem,
  RingState,
  TapBatch,
  TapStats,
} from './types.js';

/** Something of the addon's that JavaScript only passes back. */
export type Handle = { readonly __handle: unique symbol };

export interface RawSnapshot {
  takenMs: number;
  agents: number;
  words: ArrayBuffer;
  strings: string[];
  problems: RingProblem[];
  problemCount: number;
  openDirectories: string[];
  places: Pick<PlaceStatus, 'state' | 'reason' | 'files' | 'hadRings'>[];
  collector: CollectorStats;
}

export interface RawSums {
  words: ArrayBuffer;
  strings: string[];
}

export interface RawOpened {
  state: RingState;
  reason: string;
  handle?: Handle;
}

/** What native/addon exports. Arguments are checked on this side: the addon trusts them. */
export interface Addon {
  openSource(
    options: {
      places: [directory: string, pattern: string][];
      drainIntervalMs: number;
      deadTtlMs: number;
      idleTtlMs: number;
      force: boolean;
      owners: readonly number[] | undefined;
      tally: RawTally;
    },
    taps: readonly (readonly [types: readonly number[] | 'all', capacity: number])[],
  ): { source: Handle; taps: Handle[] };
  closeSource(source: Handle): void;
  drainNow(limitMs: number): boolean;
  /** Begins what drainNow() waits for. */
  requestDrain(): number;
  isDrainServed(request: number): boolean;
  addReader(source: Handle): number;
  removeReader(source: Handle, reader: number): void;
  /** Milliseconds since the collector's thread moved, where that is held up and holds on to what is asked for. */
  snapshot(source: Handle, reader: number): RawSnapshot | number;
  openTap(source: Handle, types: readonly number[] | 'all', capacity: number): Handle;
  closeTap(source: Handle, tap: Handle): void;
  takeTapped(tap: Handle, most: number): TapBatch;
  takeEvents(tap: Handle, most: number): EventBatch;
  setSampling(tap: Handle, keepOneIn: number): void;
  tapStats(tap: Handle): TapStats;
  openRing(path: string, force: boolean): RawOpened;
  closeRing(ring: Handle): void;
  drainRing(ring: Handle, most: number): RingEvent[];
  drainColumns(ring: Handle, most: number): RingEventColumns;
  ringStats(ring: Handle): {
    state: RingState;
    reason: string;
    wireVersion: number;
    capacity: number;
    slotBytes: number;
    pending: number;
    drained: bigint;
    restarts: number;
    foreignMoves: number;
    suspect: boolean;
  };
  inspectRing(path: string, force: boolean): RingInspection;
  findWriters(paths: readonly string[]): number[];
  openObserver(path: string, force: boolean): RawOpened;
  closeObserver(observer: Handle): void;
  observe(observer: Handle, most: number): ObserveResult;
  observeColumns(observer: Handle, most: number): ObserveResult<RingEventColumns>;
  openTallyingObserver(path: string, force: boolean, tally: RawTally): RawOpened;
  closeTallyingObserver(observer: Handle): void;
  observeAndTally(observer: Handle, most: number): ObservedRing;
  tallyOf(observer: Handle): RawSums;
  openWriter(path: string, wireVersion: number, capacity: number): Handle | string;
  closeWriter(writer: Handle): void;
  push(writer: Handle, type: number, name: string, category: number, timestampUs: bigint, value: bigint): boolean;
  pendingOf(writer: Handle): number;
  writerLost(writer: Handle): boolean;
}

let loaded: Addon | undefined;

/** Loads the native part on first use, so that importing this package never fails for want of it. */
export function addon(): Addon {
  loaded ??= loadFirst(nativeFiles('nixl_otel.node'));
  return loaded;
}

/** @throws NixlTelemetryError ADDON_MISSING, with what was tried and why it failed. */
export function loadFirst(paths: readonly string[]): Addon {
  const tried: string[] = [];
  let cause: unknown;
  for (const path of paths) {
    if (!existsSync(path)) {
      tried.push(`${path}: not there`);
      continue;
    }
    try {
      return createRequire(path)(path) as Addon;
    } catch (error) {
      tried.push(`${path}: ${reasonOf(error)}`);
      cause = error; // go on: an own build for another machine must not hide a binary that fits
    }
  }
  throw new NixlTelemetryError(
    'ADDON_MISSING',
    [`no native part for ${platformName()} could be loaded; tried`, ...tried, howToBuild()].join('\n  '),
    { path: paths[0]!, cause },
  );
}
