/** Readers that one instrumentation reports to, with all the providers and settings that it gets over time. */
import { madeOnce } from '../../ground/maps.js';
import { reasonOf } from '../../ground/errors.js';
import type { HistogramKind } from '../../settings/histograms.js';
import { otlpHistograms, type Settings } from '../../settings/settings.js';
import { placesText } from '../feed/place-problems.js';
import type { BuilderMetrics } from '../builders/builder-metrics.js';
import type { SourceFeed } from '../feed/snapshot-feed.js';
import { JoinedProducer, type JoiningOptions } from './joined-producer.js';
import { ReaderMemories } from './reader-memory.js';
import type { ReportingMode, Situation } from '../reporting-mode.js';
import { isShutDown, readersOf, type SdkReader } from './sdk-provider.js';

const SUBJECT = 'joined readers';
/** Interval of checks for readers that were shut down or added: no event reports either. */
const CHECK_INTERVAL_MS = 1000;

interface JoinedReadersOptions extends Pick<JoiningOptions, 'feed' | 'name' | 'log'> {
  /** Called every second while there are readers. */
  readonly onCheck: () => void;
}

/** Producers in the readers of one MeterProvider. One per provider and settings: counts of builders outlive disable(). */
interface Joining {
  readonly options: JoiningOptions;
  readonly producers: Map<SdkReader, JoinedProducer>;
}

export class JoinedReaders implements ReportingMode {
  readonly lateProducerEffect = 'from now on only metric readers with such a producer have NIXL metrics';
  readonly #options: JoinedReadersOptions;
  readonly #memories = new ReaderMemories();
  #joinings = new WeakMap<object, Joining>();
  readonly #builders = new WeakMap<object, BuilderMetrics>();
  #current: { readonly joining: Joining; readonly feed: SourceFeed } | undefined;
  #check: NodeJS.Timeout | undefined;

  constructor(options: JoinedReadersOptions) {
    this.#options = options;
  }

  /** Discards everything made for the previous settings, except the readings that readers were shown. */
  forget(): void {
    this.#joinings = new WeakMap();
  }

  isReady({ provider }: Situation): boolean {
    return openReadersOf(provider).length > 0;
  }

  run({ provider, settings, builderMetrics, openSource }: Situation): boolean {
    const feed = openSource();
    if (feed === undefined) return false;
    const joining = this.#joiningOf(provider!, settings, builderMetrics);
    if (joining !== this.#current?.joining) this.stop();
    this.#addProducers(joining, openReadersOf(provider));
    if (this.#current !== undefined) return true;
    this.#current = { joining, feed };
    joining.options.builderMetrics.attach(feed.source);
    this.#check = setInterval(this.#options.onCheck, CHECK_INTERVAL_MS).unref();
    return true;
  }

  /** When the readers are joined again after the end of the source, they get its last totals. */
  stop(close?: () => void): void {
    this.#leave(close !== undefined);
    close?.();
  }

  #leave(isClosing: boolean): void {
    if (this.#current === undefined) return;
    const { joining, feed } = this.#current;
    const { builderMetrics } = joining.options;
    clearInterval(this.#check);
    this.#check = this.#current = undefined;
    const { log } = this.#options;
    log.guard(SUBJECT, 'collect', () => {
      const last = feed.read(this);
      if (last !== undefined) builderMetrics.handOver(last);
    });
    builderMetrics.detach();
    for (const producer of joining.producers.values()) this.#remove(producer);
    if (!isClosing) return;
    // Last of all: events drained between this read and the end of the source are lost.
    log.guard(SUBJECT, 'collect', () => {
      const last = feed.read(this, { sizeClasses: true });
      if (last !== undefined) this.#memories.carry(last.agents);
    });
  }

  #joiningOf(provider: object, settings: Settings, shared: BuilderMetrics): Joining {
    return madeOnce(this.#joinings, provider, () => {
      const { feed, name, log } = this.#options;
      const builderMetrics = shared.forReaders(this.#builders.get(provider));
      this.#builders.set(provider, builderMetrics);
      const places = placesText(settings.source!);
      const options = {
        profile: settings,
        places,
        name,
        feed,
        builderMetrics,
        log,
        otlpHistograms: this.#otlpHistograms(),
      };
      return { options, producers: new Map() };
    });
  }

  /** A library only warns of a wrong value, as OpenTelemetry's specification says. */
  #otlpHistograms(): HistogramKind {
    try {
      return otlpHistograms();
    } catch (error) {
      this.#options.log.warn(SUBJECT, 'aggregation', `${reasonOf(error)}; histograms keep explicit buckets`);
      return 'explicit';
    }
  }

  /** Gives exactly these readers a producer. */
  #addProducers({ options, producers }: Joining, readers: readonly SdkReader[]): void {
    for (const [reader, producer] of producers) if (!readers.includes(reader)) this.#remove(producer);
    const memories = this.#memories.of(readers);
    readers.forEach((reader, i) => {
      madeOnce(producers, reader, () => new JoinedProducer(options, reader, memories[i]!)).join();
    });
    options.builderMetrics.start();
  }

  /** Guarded: a reader may refuse, for instance because it is frozen. It must not keep the rings attached. */
  #remove(producer: JoinedProducer): void {
    this.#options.log.guard(SUBJECT, 'removing a producer from its reader', () => producer.leave());
  }
}

function openReadersOf(provider: object | undefined): readonly SdkReader[] {
  return readersOf(provider)?.filter((reader) => !isShutDown(reader)) ?? [];
}
