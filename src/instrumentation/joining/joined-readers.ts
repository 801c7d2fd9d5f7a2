/** Readers that one instrumentation reports to, over all providers and settings that it gets one after the other. */
import { madeOnce } from '../../maps.js';
import type { Settings } from '../../settings/settings.js';
import { placesText } from '../feed/place-problems.js';
import type { BuilderMetrics } from '../builders/builder-metrics.js';
import type { DiagOnce } from '../feed/diag-once.js';
import type { SnapshotFeed, SourceFeed } from '../feed/snapshot-feed.js';
import { JoinedProducer, type JoiningOptions } from './joined-producer.js';
import { ReaderMemories } from './reader-memory.js';
import type { SdkReader } from './sdk-provider.js';

const SUBJECT = 'joined readers';
/** Interval of checks for readers that were shut down or added: no event reports either. */
const CHECK_INTERVAL_MS = 1000;

export interface JoinedReadersOptions {
  /** Feed of the producers. */
  readonly feed: SnapshotFeed;
  /** Name of the instrumentation, for messages. */
  readonly name: string;
  readonly log: DiagOnce;
  /** Called every second while there are readers. */
  readonly onCheck: () => void;
}

export class JoinedReaders {
  readonly #options: JoinedReadersOptions;
  readonly #memories = new ReaderMemories();
  #joinings = new WeakMap<object, Joining>();
  readonly #builders = new WeakMap<object, BuilderMetrics>();
  #current: { readonly joining: Joining; readonly feed: SourceFeed } | undefined;
  #check: NodeJS.Timeout | undefined;

  constructor(options: JoinedReadersOptions) {
    this.#options = options;
  }

  get any(): boolean {
    return this.#current !== undefined;
  }

  /** Discards everything made for the previous settings, except the readings that readers were shown. */
  forget(): void {
    this.#joinings = new WeakMap();
  }

  /** `shared`: has the processor of the builders. `feed`: the open source. */
  join(
    provider: object,
    readers: readonly SdkReader[],
    settings: Settings,
    shared: BuilderMetrics,
    feed: SourceFeed,
  ): void {
    const joining = this.#joiningOf(provider, settings, shared);
    if (joining !== this.#current?.joining) this.leave();
    joining.join(readers);
    if (this.#current !== undefined) return;
    this.#current = { joining, feed };
    joining.builderMetrics.attach(feed.source);
    this.#check = setInterval(this.#options.onCheck, CHECK_INTERVAL_MS).unref();
  }

  /** `isClosing`: the source closes next. The readers get what it holds by now when they are joined again. */
  leave(isClosing = false): void {
    if (this.#current === undefined) return;
    const { joining, feed } = this.#current;
    clearInterval(this.#check);
    this.#check = this.#current = undefined;
    const { log } = this.#options;
    log.guard(SUBJECT, 'collect', () => {
      const last = feed.read(this);
      if (last !== undefined) joining.builderMetrics.handOver(last);
    });
    joining.builderMetrics.detach();
    joining.leave();
    if (!isClosing) return;
    // Last of all: events drained between this read and the end of the source are lost.
    log.guard(SUBJECT, 'collect', () => {
      const last = feed.read(this);
      if (last !== undefined) this.#memories.carry(last.agents);
    });
  }

  #joiningOf(provider: object, settings: Settings, shared: BuilderMetrics): Joining {
    return madeOnce(this.#joinings, provider, () => {
      const { feed, name, log } = this.#options;
      const builderMetrics = shared.forReaders(this.#builders.get(provider));
      this.#builders.set(provider, builderMetrics);
      const places = placesText(settings.source!);
      return new Joining({ profile: settings, places, name, feed, builderMetrics, log }, this.#memories);
    });
  }
}

/** Producers in the readers of one MeterProvider. One per provider and settings: counts of builders outlive disable(). */
class Joining {
  readonly #options: JoiningOptions;
  readonly #memories: ReaderMemories;
  readonly #producers = new Map<SdkReader, JoinedProducer>();

  constructor(options: JoiningOptions, memories: ReaderMemories) {
    this.#options = options;
    this.#memories = memories;
  }

  get builderMetrics(): BuilderMetrics {
    return this.#options.builderMetrics;
  }

  /** Gives exactly these readers a producer. */
  join(readers: readonly SdkReader[]): void {
    for (const [reader, producer] of this.#producers) if (!readers.includes(reader)) this.#remove(producer);
    const memories = this.#memories.of(readers);
    readers.forEach((reader, i) => {
      madeOnce(this.#producers, reader, () => new JoinedProducer(this.#options, reader, memories[i]!)).join();
    });
    this.builderMetrics.start();
  }

  leave(): void {
    for (const producer of this.#producers.values()) this.#remove(producer);
  }

  /** Guarded: a reader that refuses, because it is frozen for instance, must not keep the rings attached. */
  #remove(producer: JoinedProducer): void {
    this.#options.log.guard(SUBJECT, 'removing a producer from its reader', () => producer.leave());
  }
}
