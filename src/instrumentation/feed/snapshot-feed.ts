/** Fresh snapshots of one source. Problems of its rings and places are logged once each. */
import { clearTimeout, setTimeout } from 'node:timers';
import type { DiagLogger } from '@opentelemetry/api';
import type {
  AgentSnapshot,
  RecoveredCounts,
  RingProblem,
  RingSource,
  Snapshot,
  SnapshotReader,
  SnapshotWants,
} from '../../shm-bridge/index.js';
import { oneLine } from '../../one-line.js';
import { DiagOnce } from './diag-once.js';
import { placeLine, placeProblems } from './place-problems.js';
import { RecoveryLog } from './recovery-log.js';

/** `problems` includes those of places without rings. */
export interface FeedSnapshot extends Snapshot {
  /** Failed exports of each exporter of serve. */
  readonly failedExports?: readonly (readonly [exporter: string, count: number])[];
}

/**
 * Source of the numbers of a collect. Any object can be a reader: it serves only as identity. The last values of a dead agent
 * are kept until all readers that joined have read them.
 */
export interface SnapshotFeed {
  join(reader: object): void;
  leave(reader: object): void;
  /** Drains first. Returns undefined without an open source. */
  collect(reader: object, wants?: SnapshotWants): Promise<ReaderSnapshot | undefined>;
  /** Returns paths of the currently reported rings and drains nothing. Undefined as for collect(). */
  rings(): ReadonlySet<string> | undefined;
  /** Returns what earlier processes counted of a recovered agent; undefined if that is not available now. */
  recovered(agentId: number): RecoveredCounts | undefined;
}

export interface ReaderSnapshot extends FeedSnapshot {
  /** Readings that this reader gets in place of `agents`. Default: `agents`. */
  readonly shown?: readonly AgentSnapshot[];
  /** The reader gets the collector's own metrics from another producer. */
  readonly withoutSelf?: boolean;
}

/** States to log, with their levels. The other states are normal while rings appear and disappear. */
const LOGGED: Readonly<Partial<Record<RingProblem['state'], 'warn' | 'debug'>>> = {
  incompatible: 'warn',
  denied: 'warn',
  busy: 'warn',
  corrupt: 'debug',
};

/** Longest time for which read() blocks the event loop while the collector thread is blocked. */
const READ_LIMIT_MS = 100;
/** By then the collector has tried to open every ring that existed at the start. */
const FIRST_CHECK_MS = 1000;
/** Rare, because each check creates garbage. Before, each interval is twice the last one: another process may hold rings. */
const CHECK_INTERVAL_MS = 30_000;

export class SourceFeed implements SnapshotFeed {
  readonly source: RingSource;
  readonly #log: DiagOnce;
  readonly #recoveryLog: RecoveryLog;
  readonly #failures: ReadonlyMap<string, number> | undefined;
  readonly #readers = new Map<object, SnapshotReader>();
  readonly #now: () => number;
  readonly #sinceMs: number;
  /** Timer that logs problems even while no reader collects. */
  #check: NodeJS.Timeout;
  /** Totals and recovered counts at end(). */
  #last: { readonly snapshot: FeedSnapshot; readonly recovered: ReadonlyMap<number, RecoveredCounts> } | undefined;

  /** `failures`: count of failed exports by exporter. `now`: milliseconds of a monotonic clock. */
  constructor(
    source: RingSource,
    logger: DiagLogger,
    failures?: ReadonlyMap<string, number>,
    now = () => performance.now(),
  ) {
    this.source = source;
    this.#log = new DiagOnce(logger);
    this.#recoveryLog = new RecoveryLog(logger, (agentId) => this.recovered(agentId));
    this.#failures = failures;
    this.#now = now;
    this.#sinceMs = now();
    this.#check = this.#checkAfter(FIRST_CHECK_MS);
  }

  join(reader: object): void {
    if (!this.source.closed && !this.#readers.has(reader)) this.#readers.set(reader, this.source.openReader());
  }

  leave(reader: object): void {
    this.#readers.get(reader)?.close();
    this.#readers.delete(reader);
  }

  /** Drains first: a reader's last collect before the exit holds everything that the rings held. */
  async collect(reader: object, wants?: SnapshotWants): Promise<FeedSnapshot | undefined> {
    if (!this.source.closed) await this.source.drain();
    return this.source.closed ? this.#last?.snapshot : this.#snapshotFor(reader, wants);
  }

  /** Drains and returns at once, as collect() does for callers that cannot wait. */
  read(reader: object): FeedSnapshot | undefined {
    if (this.source.closed) return this.#last?.snapshot;
    this.source.drainNow(READ_LIMIT_MS);
    return this.#snapshotFor(reader);
  }

  rings(): ReadonlySet<string> | undefined {
    if (this.source.closed) return undefined;
    const { agents } = this.source.snapshot();
    return new Set(agents.filter(({ exported }) => exported).map(({ path }) => path));
  }

  recovered(agentId: number): RecoveredCounts | undefined {
    return this.source.closed ? this.#last?.recovered.get(agentId) : this.source.recoveredCounts(agentId);
  }

  /** Returns a snapshot and drains nothing. */
  peek(wants?: SnapshotWants): FeedSnapshot | undefined {
    return this.source.closed ? this.#last?.snapshot : this.#logged(this.source.snapshot(wants));
  }

  /**
   * Drains a last time and releases the rings. Readers get the totals as of then from now on, which have every event that was
   * taken out of a ring. `use` gets them while the source is still open.
   */
  async end(use: (last: FeedSnapshot) => void): Promise<void> {
    if (this.source.closed) return;
    await this.source.hold();
    const snapshot = this.#logged(this.source.snapshot());
    this.#recoveryLog.write(snapshot);
    const recovered = new Map<number, RecoveredCounts>();
    for (const { id, recovered: isRecovered } of snapshot.agents) {
      const counts = isRecovered ? this.source.recoveredCounts(id) : undefined;
      if (counts !== undefined) recovered.set(id, counts);
    }
    this.#last = { snapshot, recovered };
    use(snapshot);
    this.close();
  }

  close(): void {
    clearTimeout(this.#check);
    if (!this.source.closed) this.source.close();
  }

  #snapshotFor(reader: object, wants?: SnapshotWants): FeedSnapshot {
    const snapshot = this.#logged(this.#readers.get(reader)?.snapshot(wants) ?? this.source.snapshot());
    this.#recoveryLog.write(snapshot);
    return snapshot;
  }

  /** Unref'd: telemetry must not keep an idle process alive. */
  #checkAfter(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#log.guard('source', 'checking the rings', () => {
        const snapshot = this.peek();
        if (snapshot !== undefined) this.#recoveryLog.write(snapshot);
      });
      this.#check = this.#checkAfter(Math.min(2 * ms, CHECK_INTERVAL_MS));
    }, ms).unref();
  }

  #logged(snapshot: Snapshot): FeedSnapshot {
    const places = placeProblems(snapshot.places, this.#now() - this.#sinceMs);
    this.#logRings(snapshot);
    for (const problem of places) this.#log.warn(problem.path, `place ${problem.state}`, oneLine(placeLine(problem)));
    return {
      ...snapshot,
      problems: [...places, ...snapshot.problems],
      problemCount: snapshot.problemCount + places.length,
      ...(this.#failures === undefined ? {} : { failedExports: [...this.#failures] }),
    };
  }

  #logRings({ problems, stateProblems, openDirectories, agents }: Snapshot): void {
    for (const { path, state, reason } of problems) {
      const level = LOGGED[state];
      if (level !== undefined) this.#log[level](path, state, oneLine(`ring ${path} is ${state}: ${reason}`));
    }
    for (const { path, reason } of stateProblems) {
      this.#log.warn(path, 'state file', oneLine(`state file of ring ${path}: ${reason}`));
    }
    for (const path of openDirectories) {
      const remedy = 'make it private, or name the owners of rings (option owners, flag --owner)';
      this.#log.warn(path, 'open', `any user may create rings in ${oneLine(path)}: ${remedy}`);
    }
    for (const { path, suspect, events } of agents) {
      const ring = `ring ${oneLine(path)}`;
      if (events.at(-1)?.overflow === true) {
        const message = `${ring} has more than 256 unknown kinds of events: further ones are counted as "overflow"`;
        this.#log.warn(path, 'overflow', message);
      }
      if (suspect)
        this.#log.warn(path, 'suspect', `the numbers of ${ring} may be wrong: another consumer drained it as well`);
    }
  }
}

/** Feed for readers that are made before the source and may outlive it. */
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

  async collect(reader: object, wants?: SnapshotWants): Promise<FeedSnapshot | undefined> {
    return this.#feed?.collect(reader, wants);
  }

  rings(): ReadonlySet<string> | undefined {
    return this.#feed?.rings();
  }

  recovered(agentId: number): RecoveredCounts | undefined {
    return this.#feed?.recovered(agentId);
  }
}
