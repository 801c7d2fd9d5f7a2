/** STAND-IN until the bridge lands: only the contract that the instrumentation is written against. */
import { NixlTelemetryError } from '../errors.js';
import type { Snapshot, SourceOptions, TapBatch, TapOptions, TapStats } from './types.js';

export interface EventTap {
  take(maxEvents: number): TapBatch;
  /** Keeps one event in n, evenly; 1 keeps all. */
  setSampling(n: number): void;
  stats(): TapStats;
  close(): void;
}

export interface RingSource {
  snapshot(): Snapshot;
  /** Drains all rings now and waits for it. */
  drainNow(): void;
  openTap(options: TapOptions): EventTap;
  close(): void;
  readonly closed: boolean;
}

export function openSource(_options: SourceOptions): RingSource {
  throw new NixlTelemetryError('ADDON_MISSING', 'the addon is not built');
}

export type * from './types.js';
