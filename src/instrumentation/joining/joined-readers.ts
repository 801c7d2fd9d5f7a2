/** The readers that one instrumentation reports to, over all providers and settings that it is given one after the other. */
import type { Settings } from '../../settings/settings.js';
import { placesText } from '../place-problems.js';
import type { BuilderMetrics } from '../builders/builder-metrics.js';
import type { DiagOnce } from '../diag-once.js';
import type { LateFeed, SourceFeed } from '../snapshot-feed.js';
import { Joining } from './joining.js';
import { ReaderMemories } from './reader-memories.js';
import type { SdkReader } from './sdk-provider.js';

const SUBJECT = 'joined readers';
/** Interval, milliseconds, at which readers are looked at: no event reports that one was shut down or added. */
const WATCH_MS = 1000;

export interface JoinedReadersOptions {
  readonly feed: LateFeed;
  /** Name of the instrumentation, for messages. */
  readonly name: string;
  readonly said: DiagOnce;
  /** Called now and then while there are readers. */
  readonly onWatch: () => void;
}

export class JoinedReaders {
  readonly #options: JoinedReadersOptions;
  readonly #memories = new ReaderMemories();
  #joinings = new WeakMap<object, Joining>();
  readonly #builders = new WeakMap<object, BuilderMetrics>();
  #current: Joining | undefined;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: JoinedReadersOptions) {
    this.#options = options;
  }

  get any(): boolean {
    return this.#current !== undefined;
  }

  /** The settings have changed: nothing that was made for a provider counts any more, but what its readers were shown. */
  forget(): void {
    this.#joinings = new WeakMap();
  }

  /** `shared`: has the processor of the builders. `feed`: the source that is open now. */
  join(
    provider: object,
    readers: readonly SdkReader[],
    settings: Settings,
    shared: BuilderMetrics,
    feed: SourceFeed,
  ): void {
    const joining = this.#joiningOf(provider, settings, shared);
    if (joining !== this.#current) this.leave();
    joining.join(readers);
    if (this.#current !== undefined) return;
    this.#current = joining;
    joining.builderMetrics.attach(feed.source);
    this.#watch = setInterval(this.#options.onWatch, WATCH_MS).unref();
  }

  /** `closing`: the source that is closed next. The readers get what it holds by now when they are joined again. */
  leave(closing?: SourceFeed): void {
    const joining = this.#current;
    if (joining === undefined) return;
    clearInterval(this.#watch);
    this.#watch = this.#current = undefined;
    const { said, feed } = this.#options;
    said.guard(SUBJECT, 'collect', () => {
      const last = feed.read(this);
      if (last !== undefined) joining.builderMetrics.takeIn(last);
    });
    joining.builderMetrics.detach();
    joining.leave();
    // Last of all: what is drained between this look and the end of the source is lost.
    said.guard(SUBJECT, 'collect', () => {
      const last = closing?.read(this);
      if (last !== undefined) this.#memories.carry(last.agents);
    });
  }

  #joiningOf(provider: object, settings: Settings, shared: BuilderMetrics): Joining {
    let joining = this.#joinings.get(provider);
    if (joining !== undefined) return joining;
    const { feed, name, said } = this.#options;
    const builderMetrics = shared.forReaders(this.#builders.get(provider));
    this.#builders.set(provider, builderMetrics);
    joining = new Joining({
      settings,
      places: placesText(settings.source!),
      name,
      feed,
      builderMetrics,
      memories: this.#memories,
      said,
    });
    this.#joinings.set(provider, joining);
    return joining;
  }
}
