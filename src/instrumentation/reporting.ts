/**
 * Decides what runs: nothing, producers in the readers of one MeterProvider, instruments of one meter where the provider
 * shows no readers, or only the source for producers that the service was given.
 */
import type { DiagLogger, Meter, MeterProvider } from '@opentelemetry/api';
import { NixlTelemetryError, reasonOf } from '../errors.js';
import { openSource, type RingSource } from '../shm-bridge/index.js';
import type { SourceOptions, TypeTapOptions } from '../shm-bridge/types.js';
import { BuilderMetrics } from './builders/builder-metrics.js';
import { NOTHING_CONFIGURED, sameSettings, type Settings } from '../settings/settings.js';
import { placesText } from './place-problems.js';
import { DiagOnce } from './diag-once.js';
import { JoinedReaders } from './joining/joined-readers.js';
import { isShutDown, readersOf, type SdkReader } from './joining/sdk-provider.js';
import type { SharedFeed } from './metric-producer.js';
import type { MetricProcessor } from './builders/metric-processor.js';
import { MeterMemory } from './meter-memory.js';
import { Registration } from './registration.js';
import { claimInstruments, releaseInstruments } from './instruments-owner.js';
import { twoSources } from './joining/ring-reporter.js';
import { LateFeed, SourceFeed } from './snapshot-feed.js';
import { Waiting } from './waiting.js';

const SUBJECT = 'instrumentation';
/** Exported for tests. */
export const FALLBACK =
  "this MeterProvider does not show its readers as those of OpenTelemetry's SDK do: NIXL metrics are made with " +
  'instruments of the API, without transfer histograms, and durations are sampled under load';

export interface Internals {
  /** For messages. Default: NixlInstrumentation. */
  readonly name?: string;
  /** For tests: replacements of the real source and clock. */
  readonly openSource?: (options: SourceOptions) => RingSource;
  readonly now?: () => number;
}

export interface ReportingOptions {
  readonly settings: Settings;
  readonly logger: DiagLogger;
  /** Calls use() if the global provider is another one than at the last call. */
  readonly lookUpGlobalProvider: () => void;
  readonly internals: Internals;
}

export class Reporting {
  readonly #logger: DiagLogger;
  readonly #said: DiagOnce;
  readonly #internals: Internals;
  readonly #name: string;
  readonly #waiting: Waiting;
  readonly #joined: JoinedReaders;
  #settings: Settings;
  #builderMetrics: BuilderMetrics;
  #enabled = false;
  #producersTaken = false;
  #provider: MeterProvider | undefined;
  #meter: Meter | undefined;
  #byMeter = new WeakMap<Meter, Registration>();
  readonly #memories = new WeakMap<Meter, MeterMemory>();
  #running: Registration | undefined;
  /** True when another instrumentation has its instruments on this provider. */
  #isSecond = false;
  /** Lets another instrumentation have the instruments of the provider. */
  #release = (): void => {};
  #feed: SourceFeed | undefined;
  /** For producers, which may be there before the source and after it. */
  readonly #sharedFeed = new LateFeed();

  constructor({ settings, logger, lookUpGlobalProvider, internals }: ReportingOptions) {
    this.#settings = settings;
    this.#builderMetrics = BuilderMetrics.of(settings, logger);
    this.#logger = logger;
    this.#said = new DiagOnce(logger);
    this.#internals = internals;
    this.#name = internals.name ?? 'NixlInstrumentation';
    this.#waiting = new Waiting(() => {
      if (!this.#isSecond) this.#said.guard(SUBJECT, 'the global meter provider', lookUpGlobalProvider);
      this.#arrange();
    });
    this.#joined = new JoinedReaders({
      feed: this.#sharedFeed,
      name: this.#name,
      said: this.#said,
      onWatch: () => this.#arrange(),
    });
  }

  get processor(): MetricProcessor {
    return this.#builderMetrics.processor;
  }

  /** For producers. */
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
    this.#arrange();
  }

  disable(): void {
    this.#enabled = false;
    this.#arrange();
  }

  use(provider: MeterProvider, meter: Meter): void {
    this.#isSecond = false;
    this.#provider = provider;
    this.#meter = meter;
    this.#arrange();
  }

  configure(settings: Settings): void {
    if (sameSettings(settings, this.#settings)) return;
    this.#stopAll();
    this.#settings = settings;
    // Producers that were taken keep the builders that they were made with.
    if (!this.#producersTaken) {
      const before = this.processor;
      this.#builderMetrics = BuilderMetrics.of(settings, this.#logger);
      before.close(this.processor);
    }
    this.#byMeter = new WeakMap();
    this.#joined.forget();
    this.#arrange();
  }

  /** From now on the numbers go to producers only, or a reader would have them twice. */
  handOverToProducers(): void {
    if (this.#running !== undefined) {
      this.#said.warn(
        SUBJECT,
        'late-producer',
        'metricProducer() was taken after the provider was set: readers may repeat the last values of the instruments',
      );
    }
    if (this.#joined.any) {
      this.#said.warn(
        SUBJECT,
        'late-producer',
        'metricProducer() was taken after the provider was set: from now on only readers with such a producer have NIXL metrics',
      );
    }
    this.#producersTaken = true;
    this.#arrange();
  }

  /** After every change. A meter that throws must not take the host with it. */
  #arrange(): void {
    try {
      this.#bringInLine();
    } catch (error) {
      this.#said.error(SUBJECT, 'arrange', `NIXL telemetry could not be set up: ${reasonOf(error)}`);
    }
  }

  /** Brings what runs in line with what is wanted; does nothing when nothing changed. */
  #bringInLine(): void {
    if (this.#enabled && this.#settings.source === undefined) {
      this.#said.warn(SUBJECT, 'CONFIG_INVALID', NOTHING_CONFIGURED);
    }
    if (!this.#enabled || this.#settings.source === undefined) return this.#rest();
    if (this.#producersTaken) return this.#serveProducers();
    const readers = readersOf(this.#provider);
    if (readers !== undefined) return this.#join(readers.filter((reader) => !isShutDown(reader)));
    this.#useInstruments();
  }

  #serveProducers(): void {
    this.#waiting.stop();
    this.#stopInstruments();
    this.#joined.leave();
    const feed = this.#openSource();
    if (feed !== undefined) this.#builderMetrics.attach(feed.source);
  }

  #join(readers: readonly SdkReader[]): void {
    if (readers.length === 0) return this.#wait();
    this.#waiting.stop();
    this.#stopInstruments();
    const feed = this.#openSource();
    if (feed !== undefined) this.#joined.join(this.#provider!, readers, this.#settings, this.#builderMetrics, feed);
  }

  #useInstruments(): void {
    const registration = this.#registrationOn(this.#meter);
    if (registration === undefined || registration.noop) return this.#wait();
    if (registration === this.#running) return this.#waiting.stop();
    const owner = { name: this.#name, places: placesText(this.#settings.source!) };
    const first = claimInstruments(this.#provider!, owner);
    this.#isSecond = first !== owner;
    if (this.#isSecond) {
      this.#said.warn(SUBJECT, 'twice', twoSources('this MeterProvider', first, owner));
      return this.#wait();
    }
    this.#waiting.stop();
    this.#said.warn(SUBJECT, 'fallback', FALLBACK);
    this.#joined.leave();
    this.#stopInstruments();
    const feed = this.#openSource(registration.tap);
    if (feed === undefined) return releaseInstruments(this.#provider!, owner);
    this.#running = registration;
    const provider = this.#provider!;
    this.#release = () => releaseInstruments(provider, owner);
    registration.start(feed);
  }

  /** Rings are left alone as long as there is nobody to report to: reading them is destructive. */
  #wait(): void {
    this.#stopAll();
    this.#waiting.start();
  }

  #rest(): void {
    this.#waiting.stop();
    this.#stopAll();
  }

  #stopAll(): void {
    this.#joined.leave(this.#feed);
    this.#stopInstruments(() => this.#closeSource());
  }

  #registrationOn(meter: Meter | undefined): Registration | undefined {
    if (meter === undefined) return undefined;
    let registration = this.#byMeter.get(meter);
    if (registration === undefined) {
      registration = new Registration({
        meter,
        settings: this.#settings,
        processor: this.processor,
        agentAttributes: this.#builderMetrics.agentAttributes,
        said: this.#said,
        now: this.#internals.now,
        memory: this.#memoryOf(meter),
      });
      this.#byMeter.set(meter, registration);
    }
    return registration;
  }

  #memoryOf(meter: Meter): MeterMemory {
    let memory = this.#memories.get(meter);
    if (memory === undefined) this.#memories.set(meter, (memory = new MeterMemory()));
    return memory;
  }

  #stopInstruments(close?: () => void): void {
    const settle = this.#running?.stop();
    this.#running = undefined;
    this.#release();
    this.#release = () => {};
    close?.();
    settle?.();
  }

  /** Undefined when the rings cannot be read; the host goes on without this telemetry. */
  #openSource(tap?: TypeTapOptions): SourceFeed | undefined {
    if (this.#feed !== undefined) return this.#feed;
    try {
      const { wants, agentAttributes } = this.#builderMetrics;
      const options = { ...this.#settings.source!, ...wants, ...(tap === undefined ? {} : { typeTap: tap }) };
      const source = (this.#internals.openSource ?? openSource)(options);
      this.#feed = new SourceFeed(source, this.#logger);
      this.#sharedFeed.attach(this.#feed);
      agentAttributes.watch(source);
    } catch (error) {
      const code = error instanceof NixlTelemetryError ? error.code : 'open';
      this.#said.error(SUBJECT, code, `NIXL telemetry is off: ${reasonOf(error)}`);
    }
    return this.#feed;
  }

  #closeSource(): void {
    this.#said.guard(SUBJECT, 'closing the rings', () => {
      this.#builderMetrics.detach();
      this.#feed?.close();
    });
    this.#feed = undefined;
    this.#sharedFeed.attach(undefined);
  }
}
