/** The snapshots that one joined producer reports: of the whole source, without what others report to its reader. */
import type { DiagOnce } from '../diag-once.js';
import type { ReaderSnapshot, SnapshotFeed } from '../snapshot-feed.js';
import type { ReaderMemory } from './reader-memory.js';
import { reportersBefore, type RingReporter, twoSources } from './ring-reporter.js';
import type { SdkReader } from './sdk-provider.js';

export interface JoinedFeedOptions {
  readonly feed: SnapshotFeed;
  readonly memory: ReaderMemory;
  readonly reader: SdkReader;
  /** Returns the producer that this feed belongs to, as it stands in the reader's list. */
  readonly producer: () => object;
  readonly name: string;
  readonly places: string;
  readonly said: DiagOnce;
}

export class JoinedFeed implements SnapshotFeed {
  readonly #options: JoinedFeedOptions;
  #entered = false;
  #leavesAllOut = false;

  constructor(options: JoinedFeedOptions) {
    this.#options = options;
  }

  /** A producer in no reader takes no part: see enter(). */
  join(): void {}
  leave(): void {}

  enter(): void {
    if (this.#entered) return;
    this.#entered = true;
    const { feed, memory, reader, producer } = this.#options;
    feed.join(memory);
    const reporters = reportersBefore(producer(), reader._metricProducers);
    for (const reporter of reporters) reporter.reported(); // which makes it keep them, for when it is gone
    memory.enter(reporters);
    this.#warnOfTwo(false);
  }

  exit(): void {
    if (!this.#entered) return;
    this.#entered = false;
    this.#options.feed.leave(this.#options.memory);
  }

  async collect(): Promise<ReaderSnapshot | undefined> {
    const { feed, memory, reader, producer } = this.#options;
    const reporters = reportersBefore(producer(), reader._metricProducers);
    for (const reporter of reporters) reporter.reported();
    // Before and after the snapshot: a ring that one of the two looks finds is reported by the other producer.
    const before = ringsOf(reporters);
    const snapshot = await feed.collect(memory);
    // The reader of another provider may have taken over the memory meanwhile: it reports what came since.
    if (snapshot === undefined || !this.#entered) return undefined;
    const others = new Set([...before.paths, ...ringsOf(reporters).paths]);
    const shown = memory.show(snapshot, others, reporters);
    const leftOut = snapshot.agents.filter(({ path, exported }) => exported && others.has(path));
    if (leftOut.length > 0) this.#warnOfTwo();
    this.#leavesAllOut = leftOut.length > 0 && shown.length === 0;
    return { ...snapshot, shown, withoutSelf: before.active };
  }

  /** As of the last snapshot. */
  get leavesAllOut(): boolean {
    return this.#leavesAllOut;
  }

  rings(): ReadonlySet<string> | undefined {
    return this.#entered ? this.#options.feed.rings() : undefined;
  }

  /** One warning per pair, also before there are rings if both read the same places. */
  #warnOfTwo(certain = true): void {
    const { reader, producer, name, places, said } = this.#options;
    for (const other of reportersBefore(producer(), reader._metricProducers)) {
      if (!certain && other.places !== places) continue;
      const readerName = (reader as object).constructor.name;
      said.warn(`${readerName} ${other.name}`, 'twice', twoSources(readerName, other, { name, places }));
    }
  }
}

function ringsOf(reporters: readonly RingReporter[]): { paths: ReadonlySet<string>; active: boolean } {
  const all = reporters.map((reporter) => reporter.rings()).filter((rings) => rings !== undefined);
  return { paths: new Set(all.flatMap((rings) => [...rings])), active: all.length > 0 };
}
