/**
 * Readers of the builders' instruments, one per producer. The SDK that they need is loaded when a builder first needs a meter:
 * most programs have no such builder.
 */
import type { Meter } from '@opentelemetry/api';
import type { MetricReader } from '@opentelemetry/sdk-metrics';
import type { Selectors } from './builder-provider.js';

export class BuilderReaders {
  /** Selectors by producers. A producer is any object that identifies it. */
  readonly #joined = new Map<object, Selectors>();
  #readers: ReadonlyMap<object, MetricReader> | undefined;
  #starting: Promise<Meter> | undefined;
  #meter: Meter | undefined;

  /** Undefined until start() has made it. */
  get meter(): Meter | undefined {
    return this.#meter;
  }

  /** Returns false for a producer that comes too late: the SDK's provider takes no further reader. */
  join(producer: object, selectors: Selectors): boolean {
    if (this.#joined.has(producer)) return true;
    if (this.#readers !== undefined) return false;
    this.#joined.set(producer, selectors);
    return true;
  }

  leave(producer: object): void {
    this.#joined.delete(producer);
    void this.#readers?.get(producer)?.shutdown();
  }

  /** Makes the meter, with a reader for each producer that has joined until then. Returns undefined without producers. */
  start(): Promise<Meter> | undefined {
    if (this.#joined.size > 0) this.#starting ??= this.#make();
    return this.#starting;
  }

  /** Returns undefined for a producer that has not joined or has left, and before the meter. */
  of(producer: object): MetricReader | undefined {
    return this.#joined.has(producer) ? this.#readers?.get(producer) : undefined;
  }

  async #make(): Promise<Meter> {
    const { builderProvider } = await import('./builder-provider.js');
    const { meter, readers } = builderProvider(this.#joined);
    this.#readers = readers;
    return (this.#meter = meter);
  }
}
