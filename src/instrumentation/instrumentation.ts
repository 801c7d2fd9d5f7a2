/** The standard OpenTelemetry instrumentation, for services with a MeterProvider. */
import { type MeterProvider, metrics } from '@opentelemetry/api';
import { InstrumentationBase } from '@opentelemetry/instrumentation';
import { check } from '../ground/arguments.js';
import { Inside } from '../ground/inside.js';
import { reasonOf } from '../ground/errors.js';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../ground/package.js';
import {
  checkReaderOptions,
  instrumentationSettings,
  type SharedProducerOptions,
  warnOfNoEffect,
} from '../settings/settings.js';
import type { NixlInstrumentationConfig } from '../settings/options.js';
import type { MetricProcessor } from './builders/metric-processor.js';
import { hasReaders, mayGetReaders } from './joining/sdk-provider.js';
import { NixlMetricProducer } from './producer/metric-producer.js';
import { type Internals, Reporting } from './reporting.js';
import type { AgentSizes } from '../view/sizes/direction-sizes.js';
import type { SlowListener } from './sizes/slow-listeners.js';

/**
 * Adds a producer to each reader of the MeterProvider, with the temporality of that reader. The series are those of
 * NixlMetricProducer, and views and cardinality limits of the SDK do not apply. If a reader has a producer of this package
 * already, the added one reports only the rings that the other does not read.
 *
 * This requires a MeterProvider of OpenTelemetry's SDK. For other providers the instrumentation creates instruments of the
 * API, after a warning. They lack the histograms of transfers and of declared events, and sample durations beyond
 * `durationBudgetMs` (`nixl.duration.sampled_ratio` reports the share).
 *
 * When no place with rings is configured, or the native part cannot be loaded, the instrumentation warns once through `diag` and
 * stays idle: a service must start even without its telemetry.
 */
export class NixlInstrumentation extends InstrumentationBase<NixlInstrumentationConfig> {
  // The base constructor calls setConfig() and _updateMetricInstruments() before this class has its fields. Without
  // `declare` the fields would be reset afterwards. An undefined field means that the base constructor still runs.
  declare private _reporting: Reporting | undefined;
  declare private _lookedUp: MeterProvider | undefined;
  declare private _provider: MeterProvider | undefined;

  /** @throws NixlTelemetryError CONFIG_INVALID for a wrong option. */
  constructor(config?: NixlInstrumentationConfig);
  /** @internal Has another name or, in tests, another source and clock. */
  constructor(config: NixlInstrumentationConfig, internals: Inside<Internals>);
  constructor(config: NixlInstrumentationConfig = {}, internals?: Inside<Internals>) {
    const settings = instrumentationSettings(config);
    super(PACKAGE_NAME, PACKAGE_VERSION, { ...config, enabled: false });
    super.setConfig(config);
    this._reporting = new Reporting({
      settings,
      logger: this._diag,
      lookUpGlobalProvider: () => this._lookUpGlobalProvider(),
      internals: Inside.valueOf(internals) ?? {},
    });
    warnOfNoEffect(settings, this._diag);
    this._provider = metrics.getMeterProvider();
    this._updateMetricInstruments();
    if (config.enabled !== false) this.enable();
  }

  /** Patches nothing. */
  protected override init(): void {}

  override enable(): void {
    super.enable();
    this._reporting?.enable();
  }

  /** Stops reporting. Leaves no callback, no timer and no open ring behind. */
  override disable(): void {
    super.disable();
    this._reporting?.disable();
  }

  /**
   * Replaces the configuration at once. `enabled` has an effect at construction only. A wrong option is reported through
   * `diag`, and the previous configuration stays in force.
   */
  override setConfig(config: NixlInstrumentationConfig = {}): void {
    if (this._reporting === undefined) return super.setConfig(config);
    try {
      const settings = instrumentationSettings(config);
      super.setConfig(config);
      this._reporting.configure(settings);
    } catch (error) {
      this._diag.error(`setConfig() changed nothing: ${reasonOf(error)}`);
    }
  }

  /**
   * Returns a producer on this instrumentation's rings, for a reader that the service chooses, or in another naming. Take
   * one per reader, before the provider is built. From then on the instrumentation reports to no other reader.
   * @throws NixlTelemetryError CONFIG_INVALID for a wrong option. Without rings the producer is empty.
   */
  metricProducer(options: SharedProducerOptions = {}): NixlMetricProducer {
    checkReaderOptions(options);
    const reporting = this._reporting!;
    reporting.handOverToProducers();
    return new NixlMetricProducer(options, new Inside(reporting.shared));
  }

  /**
   * Drains all rings. Returns the classes of sizes of each agent, and the line through their times, as
   * NixlMetricProducer.timeBySize() does. Empty while this instrumentation has no open rings.
   */
  timeBySize(): Promise<readonly AgentSizes[]> {
    return this._reporting!.shared.feed.timeBySize();
  }

  /**
   * Judges the speed of transfers by what is usual for each agent, every four seconds. Calls the listener with all that is found
   * then, whenever that changes. What is usual is learned for half a minute first, and is not kept over the end of the process.
   * Nothing is judged while this instrumentation has no open rings.
   * @returns a function that removes the listener
   * @throws NixlTelemetryError CONFIG_INVALID unless it is a function
   */
  onSlowness(listener: SlowListener): () => void {
    check(typeof listener === 'function', 'the listener', listener, 'a function');
    return this._reporting!.onSlowness(listener);
  }

  /** Processor that runs the builders. It accepts records of the service, and further builders. */
  get processor(): MetricProcessor {
    return this._reporting!.processor;
  }

  /** @throws NixlTelemetryError CONFIG_INVALID */
  override setMeterProvider(provider: MeterProvider): void {
    const isProvider = typeof (provider as MeterProvider | null | undefined)?.getMeter === 'function';
    check(isProvider, 'the MeterProvider', provider, 'an object with getMeter()');
    this._lookedUp = undefined;
    this._provider = provider;
    super.setMeterProvider(provider);
  }

  protected override _updateMetricInstruments(): void {
    if (this._provider !== undefined) this._reporting?.use(this._provider, this.meter);
  }

  private _lookUpGlobalProvider(): void {
    const provider = metrics.getMeterProvider();
    if (provider === this._lookedUp || provider === this._provider) return;
    // Only a provider with readers replaces a provider that may still get readers.
    if (mayGetReaders(this._provider) && !hasReaders(provider)) return;
    this._lookedUp = provider;
    this._provider = provider;
    super.setMeterProvider(provider);
  }
}
