/** Fresh snapshots of one source, and what they say about rings put into the log once. */
import { clearTimeout, setTimeout } from 'node:timers';
import type { DiagLogger } from '@opentelemetry/api';
import type { RingSource, SnapshotReader } from '../shm-bridge/index.js';
import type { AgentSnapshot, RingProblem, Snapshot } from '../shm-bridge/types.js';
import { DiagOnce } from './diag-once.js';
import type { ExporterFailures, FailedExports } from './exporter-failures.js';
import { oneLine } from '../one-line.js';
import { placeLine, placeProblems } from './place-problems.js';

/** `problems` holds places without rings, too. */
export interface FeedSnapshot extends Snapshot {
  /** Of the exporters of serve. */
  readonly failedExports?: readonly FailedExports[];
}

/**
 * Where a collect gets its numbers. A reader is any object that stands for itself: the last values of a dead agent stay
 * until all readers that joined have read them.
 */
export interface SnapshotFeed {
  join(reader: object): void;
  leave(reader: object): void;
  /** Drains first. Undefined: there is no source (any more). */
  collect(reader: object): Promise<ReaderSnapshot | undefined>;
  /** Returns paths of the rings that are reported at present, without draining anything. Undefined as for collect(). */
  rings(): ReadonlySet<string> | undefined;
}

export interface ReaderSnapshot extends FeedSnapshot {
  /** Readings that this reader gets in place of `agents`. Default: `agents`. */
  readonly shown?: readonly AgentSnapshot[];
  /** The reader gets the collector's own metrics from another producer. */
  readonly withoutSelf?: boolean;
}

/** Worth a line in the log; the other states are how rings come and go. What is no ring at all is nothing to warn of. */
const REPORTED: Readonly<Partial<Record<RingProblem['state'], 'warn' | 'debug'>>> = {
  incompatible: 'warn',
  denied: 'warn',
  busy: 'warn',
  corrupt: 'debug',
};

/** How long read() holds up the event loop at most where the collector's thread is held up itself. */
const READ_LIMIT_MS = 100;
/** By then the rings that are there have been tried. Seldom after that: each look costs a collection of garbage. */
const FIRST_LOOK_MS = 1000;
const LOOK_MS = 30_000;

export class SourceFeed implements SnapshotFeed {
  readonly source: RingSource;
  readonly #said: DiagOnce;
  readonly #failures: ExporterFailures | undefined;
  readonly #readers = new Map<object, SnapshotReader>();
  readonly #now: () => number;
  readonly #sinceMs: number;
  /** For the log, also while no reader collects. */
  #watch: NodeJS.Timeout;

  /** `now`: milliseconds on a clock that never goes back. */
  constructor(source: RingSource, logger: DiagLogger, failures?: ExporterFailures, now = () => performance.now()) {
    this.source = source;
    this.#said = new DiagOnce(logger);
    this.#failures = failures;
    this.#now = now;
    this.#sinceMs = now();
    this.#watch = this.#lookIn(FIRST_LOOK_MS);
  }

  join(reader: object): void {
    if (!this.source.closed && !this.#readers.has(reader)) this.#readers.set(reader, this.source.openReader());
  }

  leave(reader: object): void {
    this.#readers.get(reader)?.close();
    this.#readers.delete(reader);
  }

  /** Drains first, so that a reader's last collect before the exit holds everything that the rings held. */
  async collect(reader: object): Promise<FeedSnapshot | undefined> {
    if (!this.source.closed) await this.source.drain();
    return this.source.closed ? undefined : this.#snapshotFor(reader);
  }

  read(reader: object): FeedSnapshot | undefined {
    if (this.source.closed) return undefined;
    this.source.drainNow(READ_LIMIT_MS);
    return this.#snapshotFor(reader);
  }

  rings(): ReadonlySet<string> | undefined {
    if (this.source.closed) return undefined;
    const { agents } = this.source.snapshot();
    return new Set(agents.filter(({ exported }) => exported).map(({ path }) => path));
  }

  /** What is known without draining anything. */
  look(): FeedSnapshot | undefined {
    return this.source.closed ? undefined : this.#told(this.source.snapshot());
  }

  close(): void {
    clearTimeout(this.#watch);
    if (!this.source.closed) this.source.close();
  }

  #snapshotFor(reader: object): FeedSnapshot {
    return this.#told((this.#readers.get(reader) ?? this.source).snapshot());
  }

  /** Unref'd: telemetry must not keep a process alive that has nothing else to do. */
  #lookIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#said.guard('source', 'a look at the rings', () => this.look());
      this.#watch = this.#lookIn(LOOK_MS);
    }, ms).unref();
  }

  #told(snapshot: Snapshot): FeedSnapshot {
    const places = placeProblems(snapshot.places, this.#now() - this.#sinceMs);
    this.#report(snapshot);
    for (const problem of places) this.#reportPlace(problem);
    return {
      ...snapshot,
      problems: [...places, ...snapshot.problems],
      problemCount: snapshot.problemCount + places.length,
      ...(this.#failures === undefined ? {} : { failedExports: this.#failures.counts }),
    };
  }

  #reportPlace(problem: RingProblem): void {
    this.#said.warn(problem.path, `place ${problem.state}`, oneLine(placeLine(problem)));
  }

  #report(snapshot: Snapshot): void {
    for (const { path, state, reason } of snapshot.problems) {
      const level = REPORTED[state];
      if (level !== undefined) this.#said[level](path, state, oneLine(`ring ${path} is ${state}: ${reason}`));
    }
    for (const path of snapshot.openDirectories) {
      const remedy = 'make it private, or say whose rings count (owners)';
      this.#said.warn(path, 'open', `any user may put rings into ${oneLine(path)}: ${remedy}`);
    }
    for (const { path, suspect, events } of snapshot.agents) {
      if (events.at(-1)?.overflow === true) {
        const message = `ring ${oneLine(path)} has more than 256 kinds of events that are not known: further ones are counted as "overflow"`;
        this.#said.warn(path, 'overflow', message);
      }
      if (suspect)
        this.#said.warn(path, 'suspect', `the numbers of ring ${oneLine(path)} may be off: someone else read it too`);
    }
  }
}

/** A feed for readers that are made before the source is, and may outlive it. */
export class LateFeed implements SnapshotFeed {
  readonly #readers = new Set<object>();
  #feed: SourceFeed | undefined;

  attach(feed: SourceFeed | undefined): void {
    this.#feed = feed;
    for (const reader of this.#readers) feed?.join(reader);
  }

  join(reader: object): void {
    this.#readers.add(reader);
    this.#feed?.join(reader);
  }

  leave(reader: object): void {
    this.#readers.delete(reader);
    this.#feed?.leave(reader);
  }

  async collect(reader: object): Promise<FeedSnapshot | undefined> {
    return this.#feed?.collect(reader);
  }

  read(reader: object): FeedSnapshot | undefined {
    return this.#feed?.read(reader);
  }

  rings(): ReadonlySet<string> | undefined {
    return this.#feed?.rings();
  }
}
