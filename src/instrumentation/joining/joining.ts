/** The producers of one instrumentation in the readers of one MeterProvider. */
import type { BuilderMetrics } from '../builders/builder-metrics.js';
import type { Settings } from '../../settings/settings.js';
import type { DiagOnce } from '../diag-once.js';
import type { SnapshotFeed } from '../snapshot-feed.js';
import { JoinedProducer } from './joined-producer.js';
import type { ReaderMemories } from './reader-memories.js';
import type { SdkReader } from './sdk-provider.js';

export interface JoiningOptions {
  readonly settings: Settings;
  readonly places: string;
  readonly name: string;
  readonly feed: SnapshotFeed;
  readonly builderMetrics: BuilderMetrics;
  readonly memories: ReaderMemories;
  readonly said: DiagOnce;
}

/** Made once per provider and settings: what builders counted must outlive disable() and enable(). */
export class Joining {
  readonly #options: JoiningOptions;
  readonly #producers = new Map<SdkReader, JoinedProducer>();

  constructor(options: JoiningOptions) {
    this.#options = options;
  }

  get builderMetrics(): BuilderMetrics {
    return this.#options.builderMetrics;
  }

  /** Exactly these readers have a producer from now on. */
  join(readers: readonly SdkReader[]): void {
    const { settings, memories, builderMetrics } = this.#options;
    for (const [reader, producer] of this.#producers) if (!readers.includes(reader)) this.#takeOut(producer);
    const all = memories.of(readers);
    readers.forEach((reader, i) => {
      let producer = this.#producers.get(reader);
      if (producer === undefined) {
        producer = new JoinedProducer({ ...this.#options, profile: settings, reader, memory: all[i]! });
        this.#producers.set(reader, producer);
      }
      producer.join();
    });
    builderMetrics.start();
  }

  leave(): void {
    for (const producer of this.#producers.values()) this.#takeOut(producer);
  }

  /** A reader that refuses, being frozen for instance, must not keep the rings from being let go. */
  #takeOut(producer: JoinedProducer): void {
    this.#options.said.guard('joined readers', 'taking a producer out of its reader', () => producer.leave());
  }
}
