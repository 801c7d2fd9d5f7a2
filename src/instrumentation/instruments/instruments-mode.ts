/** Reports by instruments of one meter, to a MeterProvider that hides its readers. */
import type { Meter } from '@opentelemetry/api';
import { madeOnce } from '../../ground/maps.js';
import type { DiagOnce } from '../feed/diag-once.js';
import { placesText } from '../feed/place-problems.js';
import { twoSources } from '../joining/ring-reporter.js';
import { claimInstruments, releaseInstruments } from '../meter-providers.js';
import type { ReportingMode, Situation } from '../reporting-mode.js';
import { Registration } from './registration.js';
import { MeterMemory } from './totals.js';

const SUBJECT = 'instrumentation';
/** Exported for tests. */
export const FALLBACK =
  "this MeterProvider does not expose its metric readers as OpenTelemetry's SDK does: NIXL metrics use instruments of the API, " +
  'without histograms of size and throughput, and durations are sampled under load';

interface InstrumentsModeOptions {
  readonly name: string;
  readonly log: DiagOnce;
  readonly now: (() => number) | undefined;
}

/** An instrumentation's right to the instruments of a provider. */
interface Claim {
  readonly registration: Registration;
  readonly release: () => void;
}

export class InstrumentsMode implements ReportingMode {
  readonly lateProducerEffect = 'metric readers may repeat the last values of the instruments';
  /** True while another instrumentation has its instruments on this provider. */
  isSecond = false;
  readonly #options: InstrumentsModeOptions;
  #registrations = new WeakMap<Meter, Registration>();
  readonly #memories = new WeakMap<Meter, MeterMemory>();
  /** Claim of isReady(), for run(). */
  #next: Claim | undefined;
  #running: Claim | undefined;

  constructor(options: InstrumentsModeOptions) {
    this.#options = options;
  }

  /** Discards everything made for the previous settings, except the totals that readers were shown. */
  forget(): void {
    this.#registrations = new WeakMap();
  }

  isReady(situation: Situation): boolean {
    const { meter, settings } = situation;
    const provider = situation.provider!;
    const registration = meter && this.#registrationOn(meter, situation);
    if (registration === undefined || registration.noop) return false;
    if (registration === this.#running?.registration) return true;
    const owner = { name: this.#options.name, places: placesText(settings.source) };
    const first = claimInstruments(provider, owner);
    this.isSecond = first !== owner;
    if (this.isSecond) {
      this.#options.log.warn(SUBJECT, 'twice', twoSources('this MeterProvider', first, owner));
      return false;
    }
    this.#next = { registration, release: () => releaseInstruments(provider, owner) };
    return true;
  }

  run({ openSource }: Situation): boolean {
    const next = this.#next;
    if (next === undefined) return true;
    this.#next = undefined;
    this.#options.log.warn(SUBJECT, 'fallback', FALLBACK);
    this.stop();
    const feed = openSource(next.registration.tap);
    if (feed === undefined) {
      next.release();
      return false;
    }
    this.#running = next;
    next.registration.start(feed);
    return true;
  }

  stop(close?: () => void): void {
    const settle = this.#running?.registration.stop();
    this.#running?.release();
    this.#running = undefined;
    close?.();
    settle?.();
  }

  #registrationOn(meter: Meter, { settings, builderMetrics }: Situation): Registration {
    const { log, now } = this.#options;
    const { processor, agentAttributes } = builderMetrics;
    const make = (): Registration => {
      const memory = madeOnce(this.#memories, meter, () => new MeterMemory());
      return new Registration({ meter, settings, processor, agentAttributes, log, now, memory });
    };
    return madeOnce(this.#registrations, meter, make);
  }
}
