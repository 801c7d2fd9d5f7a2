/** The source of an instrumentation: open while a way to report needs it, and the feed that producers keep meanwhile. */
import type { DiagLogger } from '@opentelemetry/api';
import { isUnsupported, NixlTelemetryError, reasonOf } from '../../ground/errors.js';
import { openSource, type RingSource, type SourceOptions, type TypeTapOptions } from '../../shm-bridge/index.js';
import type { BuilderMetrics } from '../builders/builder-metrics.js';
import type { DiagOnce } from './diag-once.js';
import { LateFeed, SourceFeed } from './snapshot-feed.js';

const SUBJECT = 'instrumentation';

interface InstrumentationSourceOptions {
  readonly logger: DiagLogger;
  readonly log: DiagOnce;
  readonly openSource: ((options: SourceOptions) => RingSource) | undefined;
}

export class InstrumentationSource {
  /** Feed of the producers, which may be older than the source and outlive it. */
  readonly lateFeed = new LateFeed();
  readonly #options: InstrumentationSourceOptions;
  #open: { readonly feed: SourceFeed; readonly builderMetrics: BuilderMetrics } | undefined;

  constructor(options: InstrumentationSourceOptions) {
    this.#options = options;
  }

  /**
   * Returns the feed of the open source. Opens it if it is closed, with the tap. Undefined if it cannot be opened: the service
   * then runs without this telemetry.
   */
  open(source: SourceOptions, builderMetrics: BuilderMetrics, tap?: TypeTapOptions): SourceFeed | undefined {
    if (this.#open !== undefined) return this.#open.feed;
    const { logger, log } = this.#options;
    try {
      const { wants, agentAttributes } = builderMetrics;
      const options = { ...source, ...wants, ...(tap === undefined ? {} : { typeTap: tap }) };
      const opened = (this.#options.openSource ?? openSource)(options);
      const feed = new SourceFeed(opened, logger);
      this.#open = { feed, builderMetrics };
      this.lateFeed.attach(feed);
      agentAttributes.watch(opened);
    } catch (error) {
      const code = error instanceof NixlTelemetryError ? error.code : 'open';
      log[isUnsupported(error) ? 'warn' : 'error'](SUBJECT, code, `NIXL telemetry is off: ${reasonOf(error)}`);
    }
    return this.#open?.feed;
  }

  close(): void {
    const open = this.#open;
    this.#options.log.guard(SUBJECT, 'closing the rings', () => {
      open?.builderMetrics.detach();
      open?.feed.close();
    });
    this.#open = undefined;
    this.lateFeed.attach(undefined);
  }
}
