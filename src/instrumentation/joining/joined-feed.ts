/** Snapshots for one joined producer: of the whole source, without the rings that others report to its reader. */
import type { DiagOnce } from '../feed/diag-once.js';
import type { ReaderSnapshot, SnapshotFeed } from '../feed/snapshot-feed.js';
import type { ReaderMemory } from './reader-memory.js';
import { reportersBefore, type RingReporter, twoSources } from './ring-reporter.js';
import type { SdkReader } from './sdk-provider.js';

export interface JoinedFeedOptions {
  readonly feed: SnapshotFeed;
  /** Name of the instrumentation and the places that it reads, for messages. */
  readonly name: string;
  readonly places: string;
  readonly log: DiagOnce;
}

export class JoinedFeed implements SnapshotFeed {
  readonly #options: JoinedFeedOptions;
  readonly #producer: object;
  readonly #reader: SdkReader;
  readonly #memory: ReaderMemory;
  #entered = false;
  #omitsAll = false;

  /** `producer`: the one in the reader's list that this feed belongs to. */
  constructor(options: JoinedFeedOptions, producer: object, reader: SdkReader, memory: ReaderMemory) {
    this.#options = options;
    this.#producer = producer;
    this.#reader = reader;
    this.#memory = memory;
  }

  /** A producer outside of a reader takes no part: see enter(). */
  join(): void {}
  leave(): void {}

  enter(): void {
    if (this.#entered) return;
    this.#entered = true;
    this.#options.feed.join(this.#memory);
    const reporters = this.#otherReporters();
    for (const reporter of reporters) reporter.reported(); // makes it keep them beyond its end
    this.#memory.enter(reporters);
    this.#warnOfTwo(false);
  }

  exit(): void {
    if (!this.#entered) return;
    this.#entered = false;
    this.#options.feed.leave(this.#memory);
  }

  async collect(): Promise<ReaderSnapshot | undefined> {
    const reporters = this.#otherReporters();
    for (const reporter of reporters) reporter.reported();
    // Before and after the snapshot: a ring found in either is reported by the other producer.
    const before = ringsOf(reporters);
    const snapshot = await this.#options.feed.collect(this.#memory);
    // The reader of another provider may have the memory by now, and then reports the later events.
    if (snapshot === undefined || !this.#entered) return undefined;
    const others = new Set([...before.paths, ...ringsOf(reporters).paths]);
    const shown = this.#memory.show(snapshot, others, reporters);
    const isOmitting = snapshot.agents.some(({ path, exported }) => exported && others.has(path));
    if (isOmitting) this.#warnOfTwo();
    this.#omitsAll = isOmitting && shown.length === 0;
    return { ...snapshot, shown, withoutSelf: before.active };
  }

  /** True when the last snapshot left nothing to report. */
  get omitsAll(): boolean {
    return this.#omitsAll;
  }

  rings(): ReadonlySet<string> | undefined {
    return this.#entered ? this.#options.feed.rings() : undefined;
  }

  #otherReporters(): RingReporter[] {
    return reportersBefore(this.#producer, this.#reader._metricProducers);
  }

  /** One warning per pair. `isCertain`: both read the same ring; otherwise only pairs with the same places count. */
  #warnOfTwo(isCertain = true): void {
    const { name, places, log } = this.#options;
    for (const other of this.#otherReporters()) {
      if (!isCertain && other.places !== places) continue;
      const readerName = (this.#reader as object).constructor.name;
      log.warn(`${readerName} ${other.name}`, 'twice', twoSources(readerName, other, { name, places }));
    }
  }
}

function ringsOf(reporters: readonly RingReporter[]): { paths: ReadonlySet<string>; active: boolean } {
  const all = reporters.map((reporter) => reporter.rings()).filter((rings) => rings !== undefined);
  return { paths: new Set(all.flatMap((rings) => [...rings])), active: all.length > 0 };
}
