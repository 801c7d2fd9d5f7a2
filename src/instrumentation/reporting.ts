/**
 * Decides what runs: nothing; producers in the readers of one MeterProvider; instruments of one meter, if the provider
 * hides its readers; or only the source, for producers that the service took.
 */
import type { DiagLogger, Meter, MeterProvider } from '@opentelemetry/api';
import { isUnsupported, NixlTelemetryError, reasonOf } from '../errors.js';
import { madeOnce } from '../maps.js';
import { NOTHING_CONFIGURED, sameSettings, type Settings } from '../settings/settings.js';
import { openSource, type RingSource, type SourceOptions, type TypeTapOptions } from '../shm-bridge/index.js';
import { placesText } from './feed/place-problems.js';
import { BuilderMetrics } from './builders/builder-metrics.js';
import type { MetricProcessor } from './builders/metric-processor.js';
import { DiagOnce } from './feed/diag-once.js';
import { LateFeed, SourceFeed } from './feed/snapshot-feed.js';
import { Registration } from './instruments/registration.js';
import { MeterMemory } from './instruments/totals.js';
import { JoinedReaders } from './joining/joined-readers.js';
import { twoSources } from './joining/ring-reporter.js';
import { isShutDown, readersOf, type SdkReader } from './joining/sdk-provider.js';
import { claimInstruments, LONG_WAIT_MS, releaseInstruments, Retry } from './meter-providers.js';
import type { SharedFeed } from './producer/metric-producer.js';

const SUBJECT = 'instrumentation';
/** Exported for tests. */
export const FALLBACK =
  "this MeterProvider does not expose its metric readers as OpenTelemetry's SDK does: NIXL metrics use instruments of the API, " +
  'without histograms of size and throughput, and durations are sampled under load';
/** Exported for tests. */
export const NO_READER =
  `no MeterProvider with a metric reader in ${LONG_WAIT_MS / 1000} s, so no ring is read: start an OpenTelemetry SDK with a ` +
  'metric reader, for example by --import @opentelemetry/auto-instrumentations-node/register';

export interface Internals {
  /** For messages. Default: NixlInstrumentation. */
  readonly name?: string;
  /** Replaces the log for NO_READER: without an SDK nothing has set a logger. */
  readonly onNoReader?: (message: string) => void;
  /** Replacements of the real source and clock in tests. */
  readonly openSource?: (options: SourceOptions) => RingSource;
  readonly now?: () => number;
}

interface ReportingOptions {
  readonly settings: Settings;
  readonly logger: DiagLogger;
  /** Calls use() if the global provider has changed since the last call. */
  readonly lookUpGlobalProvider: () => void;
  readonly internals: Internals;
}

export class Reporting {
  readonly #logger: DiagLogger;
  readonly #log: DiagOnce;
  readonly #internals: Internals;
  readonly #name: string;
  readonly #retry: Retry;
  readonly #joined: JoinedReaders;
  #settings: Settings;
  #builderMetrics: BuilderMetrics;
  #enabled = false;
  /** True once a reader or meter has been found: a service may end its SDK long before itself. */
  #hasReported = false;
  #producersTaken = false;
  #provider: MeterProvider | undefined;
  #meter: Meter | undefined;
  #byMeter = new WeakMap<Meter, Registration>();
  readonly #memories = new WeakMap<Meter, MeterMemory>();
  #running: Registration | undefined;
  /** True while another instrumentation has its instruments on this provider. */
  #isSecond = false;
  /** Releases the claim on the provider's instruments. */
  #release = (): void => {};
  #feed: SourceFeed | undefined;
  /** Feed of the producers, which may be older than the source and outlive it. */
  readonly #sharedFeed = new LateFeed();

  constructor({ settings, logger, lookUpGlobalProvider, internals }: ReportingOptions) {
    this.#settings = settings;
    this.#builderMetrics = BuilderMetrics.of(settings, logger);
    this.#logger = logger;
    this.#log = new DiagOnce(logger);
    this.#internals = internals;
    this.#name = internals.name ?? 'NixlInstrumentation';
    const attempt = (): void => {
      if (!this.#isSecond) this.#log.guard(SUBJECT, 'the global meter provider', lookUpGlobalProvider);
      this.#update();
    };
    this.#retry = new Retry(attempt, () => this.#warnWithoutReader());
    this.#joined = new JoinedReaders({
      feed: this.#sharedFeed,
      name: this.#name,
      log: this.#log,
      onCheck: () => this.#update(),
    });
  }

  get processor(): MetricProcessor {
    return this.#builderMetrics.processor;
  }

  /** Feed and settings for producers. */
  get shared(): SharedFeed {
    return {
      ...this.#settings,
      feed: this.#sharedFeed,
      builderMetrics: this.#builderMetrics,
      name: 'a producer of NixlInstrumentation.metricProducer()',
      places: placesText(this.#settings.source ?? {}),
    };
  }

  enable(): void {
    this.#enabled = true;
    this.#update();
  }

  disable(): void {
    this.#enabled = false;
    this.#update();
  }

  use(provider: MeterProvider, meter: Meter): void {
    this.#isSecond = false;
    this.#provider = provider;
    this.#meter = meter;
    this.#update();
  }

  configure(settings: Settings): void {
    if (sameSettings(settings, this.#settings)) return;
    this.#stopAll();
    this.#settings = settings;
    // Producers that the service has taken keep their builders.
    if (!this.#producersTaken) {
      const before = this.processor;
      this.#builderMetrics = BuilderMetrics.of(settings, this.#logger);
      before.close(this.processor);
    }
    this.#byMeter = new WeakMap();
    this.#joined.forget();
    this.#update();
  }

  /** Stops every other kind of reporting: a reader would export the numbers twice. */
  handOverToProducers(): void {
    const tooLate = 'metricProducer() was called after the MeterProvider was set';
    if (this.#running !== undefined) {
      const effect = 'metric readers may repeat the last values of the instruments';
      this.#log.warn(SUBJECT, 'late-producer', `${tooLate}: ${effect}`);
    }
    if (this.#joined.any) {
      const effect = 'from now on only metric readers with such a producer have NIXL metrics';
      this.#log.warn(SUBJECT, 'late-producer', `${tooLate}: ${effect}`);
    }
    this.#producersTaken = true;
    this.#update();
  }

  /** Called after every change. Catches errors: a meter that throws must not end the service. */
  #update(): void {
    try {
      this.#apply();
    } catch (error) {
      this.#log.error(SUBJECT, 'arrange', `NIXL telemetry could not be set up: ${reasonOf(error)}`);
    }
  }

  /** Starts or stops reporting as the current state requires. Does nothing if the state has not changed. */
  #apply(): void {
    if (this.#enabled && this.#settings.source === undefined) {
      this.#log.warn(SUBJECT, 'CONFIG_INVALID', NOTHING_CONFIGURED);
    }
    if (!this.#enabled || this.#settings.source === undefined) {
      this.#retry.stop();
      return this.#stopAll();
    }
    if (this.#producersTaken) return this.#serveProducers();
    const readers = readersOf(this.#provider);
    if (readers !== undefined) return this.#join(readers.filter((reader) => !isShutDown(reader)));
    this.#useInstruments();
  }

  #serveProducers(): void {
    this.#retry.stop();
    this.#stopInstruments();
    this.#joined.leave();
    const feed = this.#openSource();
    if (feed !== undefined) this.#builderMetrics.attach(feed.source);
  }

  #join(readers: readonly SdkReader[]): void {
    if (readers.length === 0) return this.#wait();
    this.#retry.stop();
    this.#stopInstruments();
    const feed = this.#openSource();
    if (feed !== undefined) this.#joined.join(this.#provider!, readers, this.#settings, this.#builderMetrics, feed);
  }

  #useInstruments(): void {
    const registration = this.#meter && this.#registrationOn(this.#meter);
    if (registration === undefined || registration.noop) return this.#wait();
    if (registration === this.#running) return this.#retry.stop();
    const provider = this.#provider!;
    const owner = { name: this.#name, places: placesText(this.#settings.source!) };
    const first = claimInstruments(provider, owner);
    this.#isSecond = first !== owner;
    if (this.#isSecond) {
      this.#log.warn(SUBJECT, 'twice', twoSources('this MeterProvider', first, owner));
      return this.#wait();
    }
    this.#retry.stop();
    this.#log.warn(SUBJECT, 'fallback', FALLBACK);
    this.#joined.leave();
    this.#stopInstruments();
    const feed = this.#openSource(registration.tap);
    if (feed === undefined) return releaseInstruments(provider, owner);
    this.#running = registration;
    this.#release = () => releaseInstruments(provider, owner);
    registration.start(feed);
  }

  /** Waits for a reader. Until then no ring is drained: the events would reach no metric. */
  #wait(): void {
    this.#stopAll();
    this.#retry.start();
  }

  #warnWithoutReader(): void {
    const isMeant = process.env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
    if (this.#hasReported || this.#isSecond || isMeant) return;
    const { onNoReader } = this.#internals;
    if (onNoReader === undefined) this.#log.warn(SUBJECT, 'no-reader', NO_READER);
    else onNoReader(NO_READER);
  }

  #stopAll(): void {
    this.#joined.leave(true);
    this.#stopInstruments(() => this.#closeSource());
  }

  #registrationOn(meter: Meter): Registration {
    const make = (): Registration =>
      new Registration({
        meter,
        settings: this.#settings,
        processor: this.processor,
        agentAttributes: this.#builderMetrics.agentAttributes,
        log: this.#log,
        now: this.#internals.now,
        memory: madeOnce(this.#memories, meter, () => new MeterMemory()),
      });
    return madeOnce(this.#byMeter, meter, make);
  }

  #stopInstruments(close?: () => void): void {
    const settle = this.#running?.stop();
    this.#running = undefined;
    this.#release();
    this.#release = () => {};
    close?.();
    settle?.();
  }

  /** Returns the open source; undefined if it cannot be opened: the service then runs without this telemetry. */
  #openSource(tap?: TypeTapOptions): SourceFeed | undefined {
    if (this.#feed !== undefined) return this.#feed;
    this.#hasReported = true;
    try {
      const { wants, agentAttributes } = this.#builderMetrics;
      const options = { ...this.#settings.source!, ...wants, ...(tap === undefined ? {} : { typeTap: tap }) };
      const source = (this.#internals.openSource ?? openSource)(options);
      this.#feed = new SourceFeed(source, this.#logger);
      this.#sharedFeed.attach(this.#feed);
      agentAttributes.watch(source);
    } catch (error) {
      const code = error instanceof NixlTelemetryError ? error.code : 'open';
      this.#log[isUnsupported(error) ? 'warn' : 'error'](SUBJECT, code, `NIXL telemetry is off: ${reasonOf(error)}`);
    }
    return this.#feed;
  }

  #closeSource(): void {
    this.#log.guard(SUBJECT, 'closing the rings', () => {
      this.#builderMetrics.detach();
      this.#feed?.close();
    });
    this.#feed = undefined;
    this.#sharedFeed.attach(undefined);
  }
}
