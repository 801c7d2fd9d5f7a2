/**
 * Decides what runs: nothing; producers in the readers of one MeterProvider; instruments of one meter, if the provider
 * hides its readers; or only the source, for producers that the service took.
 */
import { intervalText } from '../ground/figures/clock.js';
import type { DiagLogger, Meter, MeterProvider } from '@opentelemetry/api';
import { reasonOf } from '../ground/errors.js';
import { NOTHING_CONFIGURED, sameSettings, type Settings } from '../settings/settings.js';
import type { RingSource, SourceOptions } from '../shm-bridge/index.js';
import { placesText } from './feed/place-problems.js';
import { BuilderMetrics } from './builders/builder-metrics.js';
import type { MetricProcessor } from './builders/metric-processor.js';
import { DiagOnce } from './feed/diag-once.js';
import { InstrumentationSource } from './feed/instrumentation-source.js';
import { InstrumentsMode } from './instruments/instruments-mode.js';
import { JoinedReaders } from './joining/joined-readers.js';
import { readersOf } from './joining/sdk-provider.js';
import { LONG_WAIT_MS, Retry } from './meter-providers.js';
import type { SharedFeed } from './producer/metric-producer.js';
import type { SlowListener } from './sizes/slow-listeners.js';
import type { ReportingMode, Situation } from './reporting-mode.js';

const SUBJECT = 'instrumentation';
/** Exported for tests. */
export const NO_READER =
  `no MeterProvider with a metric reader in ${intervalText(LONG_WAIT_MS)}, so no ring is read: start an OpenTelemetry SDK with a ` +
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

/** The service reports by producers that it took: the source is open for them. */
const PRODUCERS: ReportingMode = {
  isReady: () => true,
  run({ builderMetrics, openSource }) {
    const feed = openSource();
    if (feed !== undefined) builderMetrics.attach(feed.source);
    return feed !== undefined;
  },
  stop: (close) => close?.(),
};

export class Reporting {
  readonly #logger: DiagLogger;
  readonly #log: DiagOnce;
  readonly #internals: Internals;
  readonly #retry: Retry;
  readonly #source: InstrumentationSource;
  readonly #readers: JoinedReaders;
  readonly #instruments: InstrumentsMode;
  #settings: Settings;
  #builderMetrics: BuilderMetrics;
  #enabled = false;
  /** True once a reader or meter has been found: a service may end its SDK long before itself. */
  #hasReported = false;
  #producersTaken = false;
  #provider: MeterProvider | undefined;
  #meter: Meter | undefined;
  #mode: ReportingMode | undefined;

  constructor({ settings, logger, lookUpGlobalProvider, internals }: ReportingOptions) {
    this.#settings = settings;
    this.#builderMetrics = BuilderMetrics.of(settings, logger);
    this.#logger = logger;
    const log = (this.#log = new DiagOnce(logger));
    this.#internals = internals;
    const { name = 'NixlInstrumentation', now, openSource } = internals;
    this.#source = new InstrumentationSource({ logger, log, openSource });
    this.#instruments = new InstrumentsMode({ name, log, now });
    this.#readers = new JoinedReaders({ feed: this.#source.lateFeed, name, log, onCheck: () => this.#update() });
    const attempt = (): void => {
      if (!this.#instruments.isSecond) log.guard(SUBJECT, 'the global meter provider', lookUpGlobalProvider);
      this.#update();
    };
    this.#retry = new Retry(attempt, () => this.#warnWithoutReader());
  }

  get processor(): MetricProcessor {
    return this.#builderMetrics.processor;
  }

  get shared(): SharedFeed {
    return {
      ...this.#settings,
      feed: this.#source.lateFeed,
      builderMetrics: this.#builderMetrics,
      name: 'a producer of NixlInstrumentation.metricProducer()',
      places: placesText(this.#settings.source ?? {}),
    };
  }

  onSlowness(listener: SlowListener): () => void {
    return this.#source.lateFeed.onSlowness(listener);
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
    this.#instruments.isSecond = false;
    this.#provider = provider;
    this.#meter = meter;
    this.#update();
  }

  configure(settings: Settings): void {
    if (sameSettings(settings, this.#settings)) return;
    this.#stop();
    this.#settings = settings;
    // Producers that the service has taken keep their builders.
    if (!this.#producersTaken) {
      const before = this.processor;
      this.#builderMetrics = BuilderMetrics.of(settings, this.#logger);
      before.close(this.processor);
    }
    this.#instruments.forget();
    this.#readers.forget();
    this.#update();
  }

  /** Stops every other kind of reporting: a reader would export the numbers twice. */
  handOverToProducers(): void {
    const effect = this.#mode?.lateProducerEffect;
    if (effect !== undefined) {
      const tooLate = 'metricProducer() was called after the MeterProvider was set';
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
    const { source } = this.#settings;
    if (this.#enabled && source === undefined) this.#log.warn(SUBJECT, 'CONFIG_INVALID', NOTHING_CONFIGURED);
    if (!this.#enabled || source === undefined) {
      this.#retry.stop();
      return this.#stop();
    }
    const mode = this.#wantedMode();
    const situation = this.#situation(source);
    if (!mode.isReady(situation)) {
      // Until there is a reader no ring is drained: the events would reach no metric.
      this.#stop();
      return this.#retry.start();
    }
    this.#retry.stop();
    if (mode !== this.#mode) this.#mode?.stop();
    this.#hasReported = true;
    this.#mode = mode.run(situation) ? mode : undefined;
  }

  #wantedMode(): ReportingMode {
    if (this.#producersTaken) return PRODUCERS;
    return readersOf(this.#provider) === undefined ? this.#instruments : this.#readers;
  }

  #situation(source: SourceOptions): Situation {
    const builderMetrics = this.#builderMetrics;
    return {
      settings: { ...this.#settings, source },
      builderMetrics,
      provider: this.#provider,
      meter: this.#meter,
      openSource: (tap) => this.#source.open(source, builderMetrics, tap),
    };
  }

  #stop(): void {
    this.#mode?.stop(() => this.#source.close());
    this.#mode = undefined;
  }

  #warnWithoutReader(): void {
    const isMeant = process.env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
    if (this.#hasReported || this.#instruments.isSecond || isMeant) return;
    const { onNoReader } = this.#internals;
    if (onNoReader === undefined) this.#log.warn(SUBJECT, 'no-reader', NO_READER);
    else onNoReader(NO_READER);
  }
}
