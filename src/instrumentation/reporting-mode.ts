/** Ways to report the rings of an instrumentation. At most one runs at a time. */
import type { Meter, MeterProvider } from '@opentelemetry/api';
import type { Settings } from '../settings/settings.js';
import type { SourceOptions, TypeTapOptions } from '../shm-bridge/index.js';
import type { BuilderMetrics } from './builders/builder-metrics.js';
import type { SourceFeed } from './feed/snapshot-feed.js';

/** What is reported, and where. */
export interface Situation {
  readonly settings: Settings & { readonly source: SourceOptions };
  readonly builderMetrics: BuilderMetrics;
  readonly provider: MeterProvider | undefined;
  readonly meter: Meter | undefined;
  /** Returns the feed of the source, which it opens if it is closed. Undefined if it cannot be opened. */
  readonly openSource: (tap?: TypeTapOptions) => SourceFeed | undefined;
}

export interface ReportingMode {
  /** Effect if the service takes producers while the mode runs. */
  readonly lateProducerEffect?: string;
  /** Returns false if there is nothing to report to yet. */
  isReady(situation: Situation): boolean;
  /** Begins, or goes on with what has changed since the last call. Returns false if the source cannot be opened. */
  run(situation: Situation): boolean;
  /** Ends what run() began. Calls `close`, which closes the source if no other mode needs it, in between. */
  stop(close?: () => void): void;
}
