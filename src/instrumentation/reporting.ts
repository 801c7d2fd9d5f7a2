/** Decides what runs: nothing, the instrumentation's own instruments on one meter, or only the source for producers. */
import type { DiagLogger, Meter } from '@opentelemetry/api';
import { NixlTelemetryError, reasonOf } from '../errors.js';
import { openSource, type RingSource } from '../shm-bridge/index.js';
import type { SourceOptions } from '../shm-bridge/types.js';
import { BuilderMetrics } from './builders/builder-metrics.js';
import { NOTHING_CONFIGURED, sameSettings, type Settings } from './config/config.js';
import { DiagOnce } from './diag-once.js';
import type { SharedFeed } from './metric-producer.js';
import type { MetricProcessor } from './builders/metric-processor.js';
import { MeterMemory } from './meter-memory.js';
import { Registration } from './registration.js';
import { LateFeed, SourceFeed } from './snapshot-feed.js';

const SUBJECT = 'instrumentation';
const FIRST_LOOK_MS = 10;
const LONGEST_LOOK_MS = 1000;

/** What tests put in the place of the real thing. */
export interface Internals {
  readonly openSource?: (options: SourceOptions) => RingSource;
  readonly now?: () => number;
}

export interface ReportingOptions {
  readonly settings: Settings;
  readonly logger: DiagLogger;
  /** Calls useMeter() if the global provider is another one than at the last call. */
  readonly lookUpGlobalMeter: () => void;
  readonly internals: Internals;
}

export class Reporting {
  readonly #logger: DiagLogger;
  readonly #said: DiagOnce;
  readonly #lookUpGlobalMeter: () => void;
  readonly #internals: Internals;
  #settings: Settings;
  #builderMetrics: BuilderMetrics;
  #enabled = false;
  #producersTaken = false;
  #meter: Meter | undefined;
  #byMeter = new WeakMap<Meter, Registration>();
  readonly #memories = new WeakMap<Meter, MeterMemory>();
  #running: Registration | undefined;
  #feed: SourceFeed | undefined;
  #lookAgain: NodeJS.Timeout | undefined;

  constructor({ settings, logger, lookUpGlobalMeter, internals }: ReportingOptions) {
    this.#settings = settings;
    this.#builderMetrics = BuilderMetrics.of(settings, logger);
    this.#logger = logger;
    this.#said = new DiagOnce(logger);
    this.#lookUpGlobalMeter = lookUpGlobalMeter;
    this.#internals = internals;
  }

  get settings(): Settings {
    return this.#settings;
  }

  get processor(): MetricProcessor {
    return this.#builderMetrics.processor;
  }

  /** For producers. */
  get shared(): SharedFeed {
    return { ...this.#settings, feed: this.sharedFeed, builderMetrics: this.#builderMetrics };
  }

  /** For producers, which may be there before the source and after it. */
  readonly sharedFeed = new LateFeed();

  enable(): void {
    this.#enabled = true;
    this.#arrange();
  }

  disable(): void {
    this.#enabled = false;
    this.#arrange();
  }

  useMeter(meter: Meter): void {
    this.#meter = meter;
    this.#arrange();
  }

  configure(settings: Settings): void {
    if (sameSettings(settings, this.#settings)) return;
    this.#stopInstruments(() => this.#closeSource());
    this.#settings = settings;
    // Producers that were taken keep the builders that they were made with.
    if (!this.#producersTaken) {
      const before = this.processor;
      this.#builderMetrics = BuilderMetrics.of(settings, this.#logger);
      before.close(this.processor);
    }
    this.#byMeter = new WeakMap();
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
    if (this.#producersTaken) {
      this.#stopLookingAgain();
      this.#stopInstruments();
      this.#openSource({ ...this.#settings.source, ...this.#builderMetrics.wants });
      if (this.#feed !== undefined) this.#builderMetrics.attach(this.#feed.source);
      return;
    }
    const registration = this.#registrationOn(this.#meter);
    if (registration === undefined || registration.noop) {
      // Rings are left alone as long as there is nobody to report to: reading them is destructive.
      this.#rest();
      this.#startLookingAgain();
      return;
    }
    this.#stopLookingAgain();
    if (registration === this.#running) return;
    this.#stopInstruments();
    const feed = this.#openSource({ ...this.#settings.source, ...this.#builderMetrics.wants, tap: registration.tap });
    if (feed === undefined) return;
    this.#running = registration;
    registration.start(feed);
  }

  #rest(): void {
    this.#stopLookingAgain();
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
    close?.();
    settle?.();
  }

  /** Undefined when the rings cannot be read; the host goes on without this telemetry. */
  #openSource(options: SourceOptions): SourceFeed | undefined {
    if (this.#feed !== undefined) return this.#feed;
    try {
      const source = (this.#internals.openSource ?? openSource)(options);
      this.#feed = new SourceFeed(source, this.#logger);
      this.sharedFeed.attach(this.#feed);
      this.#builderMetrics.agentAttributes.watch(source);
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
    this.sharedFeed.attach(undefined);
  }

  /**
   * The API has no meter that turns real later, and some set-ups never hand instrumentations the real provider: so the
   * global one is looked up again, at once and then at doubling distances up to a second until it is there.
   */
  #startLookingAgain(): void {
    this.#lookLater(FIRST_LOOK_MS);
    this.#lookUp();
  }

  #lookLater(delayMs: number): void {
    this.#lookAgain = setTimeout(() => {
      this.#lookLater(Math.min(LONGEST_LOOK_MS, 2 * delayMs));
      this.#lookUp(); // stops the timer when it finds one
    }, delayMs).unref();
  }

  #lookUp(): void {
    this.#said.guard(SUBJECT, 'the global meter provider', () => this.#lookUpGlobalMeter());
  }

  #stopLookingAgain(): void {
    clearTimeout(this.#lookAgain);
    this.#lookAgain = undefined;
  }
}
