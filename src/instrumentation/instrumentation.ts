/** The standard OpenTelemetry instrumentation: for services that have a MeterProvider of their own. */
import { type MeterProvider, metrics } from '@opentelemetry/api';
import { InstrumentationBase } from '@opentelemetry/instrumentation';
import { check, isObject } from '../arguments.js';
import { reasonOf } from '../errors.js';
import { checkReaderOptions, instrumentationSettings, warnOfNoEffect } from '../settings/settings.js';
import type { NixlInstrumentationConfig, NixlMetricProducerOptions } from '../settings/options.js';
import { NixlMetricProducer } from './metric-producer.js';
import type { MetricProcessor } from './builders/metric-processor.js';
import { hasReaders, mayGetReaders } from './joining/sdk-provider.js';
import { type Internals, Reporting } from './reporting.js';
import { PACKAGE_NAME, PACKAGE_VERSION } from './version.js';

export type SharedProducerOptions = Pick<NixlMetricProducerOptions, 'temporality' | 'naming' | 'hostname'>;

/**
 * Adds a producer to each reader of the MeterProvider, with the temporality of that reader: the series are those of
 * NixlMetricProducer, and views and cardinality limits of the SDK do not apply. A reader that has a producer of this
 * package already gets from this one only the rings that the other does not read.
 *
 * That takes a MeterProvider of OpenTelemetry's SDK. Others get instruments of the API, after a warning: without the
 * histograms of transfers and of declared events, and with durations that are sampled beyond `durationBudgetMs`
 * (`nixl.duration.sampled_ratio` reports the share).
 *
 * When neither options nor the environment say where the rings are, or the native part is missing, it says so once
 * through `diag` and rests: a service must start without its telemetry.
 */
export class NixlInstrumentation extends InstrumentationBase<NixlInstrumentationConfig> {
  // The base constructor calls setConfig() and _updateMetricInstruments() before this class has its fields; `declare`
  // keeps the field from being defined (and wiped) afterwards, so undefined means "still in the base constructor".
  declare private _reporting: Reporting | undefined;
  declare private _lookedUp: MeterProvider | undefined;
  declare private _provider: MeterProvider | undefined;

  /**
   * `internals` is for tests.
   * @throws NixlTelemetryError CONFIG_INVALID for a wrong option.
   */
  constructor(config: NixlInstrumentationConfig = {}, internals: Internals = {}) {
    const settings = instrumentationSettings(config);
    check(isObject(internals), 'internals', internals, 'nothing: it is for tests');
    super(PACKAGE_NAME, PACKAGE_VERSION, { ...config, enabled: false });
    super.setConfig(config);
    this._reporting = new Reporting({
      settings,
      logger: this._diag,
      lookUpGlobalProvider: () => this._lookUpGlobalProvider(),
      internals,
    });
    warnOfNoEffect(settings, this._diag);
    this._provider = metrics.getMeterProvider();
    this._updateMetricInstruments();
    if (config.enabled !== false) this.enable();
  }

  /** Nothing is patched. */
  protected override init(): void {}

  override enable(): void {
    super.enable();
    this._reporting?.enable();
  }

  /** Leaves no callback, no timer and no open ring behind. */
  override disable(): void {
    super.disable();
    this._reporting?.disable();
  }

  /**
   * Takes effect at once; does not enable or disable (`enabled` counts at construction only). A wrong option is
   * reported through `diag`, and what was in force stays.
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
   * Returns a producer on this instrumentation's rings, for a reader that the service chooses, or in another naming: one
   * per reader, taken before the provider is built. From then on the instrumentation reports to no other reader.
   * @throws NixlTelemetryError CONFIG_INVALID for a wrong option. With no rings to read it is merely empty.
   */
  metricProducer(options: SharedProducerOptions = {}): NixlMetricProducer {
    checkReaderOptions(options);
    const reporting = this._reporting!;
    reporting.handOverToProducers();
    return new NixlMetricProducer(options, reporting.shared);
  }

  /** Runs the builders; takes records of the service's own, and further builders. */
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
    // A provider that may still get readers is left only for one that has some.
    if (mayGetReaders(this._provider) && !hasReaders(provider)) return;
    this._lookedUp = provider;
    this._provider = provider;
    super.setMeterProvider(provider);
  }
}
