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
import { startingEngines } from '../../shm-bridge/starting-engines.js';
import { reasonOf } from '../../ground/errors.js';
import { oneLine } from '../../ground/one-line.js';
import type { TimeSlices } from '../../ground/time-slices.js';
import type { ServeState } from '../serve-state.js';
import type { AgentSizes } from '../../view/sizes/direction-sizes.js';
import { agentSizesIn } from '../sizes/agent-sizes.js';
import { SizeWatch } from '../sizes/size-watch.js';
import type { SlowListener } from '../sizes/slow-listeners.js';
import { DiagOnce } from './diag-once.js';
import { problemGroups } from './problem-groups.js';
import { placeLine, placeProblems } from './place-problems.js';
import type { Mutable } from '../../shm-bridge/tally-words.js';
import { RecoveryLog } from './recovery-log.js';
import { UnseenLives } from './unseen-lives.js';

/** `problems` includes those of places without rings. */
export interface FeedSnapshot extends Snapshot {
  /** Present only in a collect of serve that has metrics about itself. */
  readonly serve?: ServeState;
}

export interface CollectWants extends SnapshotWants {
  /** Reads agents and makes their readings in slices. Default: at once, so that two collects never overtake each other. */
  readonly slices?: TimeSlices;
  /** True adds the models of time to agents, and begins to watch them. Default: false. */
  readonly timeModels?: boolean;
}

/**
 * Source of the numbers of a collect. Any object can be a reader: it serves only as identity. The last values of a dead agent
 * are kept until all readers that joined have read them.
 */
export interface SnapshotFeed {
  join(reader: object): void;
  leave(reader: object): void;
  /** Drains first. Returns undefined without an open source. */
  collect(reader: object, wants?: CollectWants): Promise<ReaderSnapshot | undefined>;
  /** Returns paths of the currently reported rings and drains nothing. Undefined as for collect(). */
  rings(): ReadonlySet<string> | undefined;
  /** Drains first. Empty without an open source. */
  timeBySize(): Promise<readonly AgentSizes[]>;
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
  deleted: 'warn',
  corrupt: 'debug',
};

/** Longest time for which read() blocks the event loop while the collector thread is blocked. */
const READ_LIMIT_MS = 100;
/** By then the collector has tried to open every ring that existed at the start. */
const FIRST_CHECK_MS = 1000;
/** Rare, because each check creates garbage. Before, each interval is twice the last one: another process may hold rings. */
const CHECK_INTERVAL_MS = 30_000;

const STARTING_INTERVAL_MS = 10_000;

interface FeedOptions {
  /** Called at each collect. */
  readonly serveState?: (() => ServeState) | undefined;
  /** Reads facts about the agents of a snapshot in slices, before others use it. */
  readonly prepare?: ((agents: readonly AgentSnapshot[], slices: TimeSlices) => Promise<void>) | undefined;
  /** Returns milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

export class SourceFeed implements SnapshotFeed {
  readonly source: RingSource;
  readonly #prepare: FeedOptions['prepare'];
  readonly #log: DiagOnce;
  readonly #recoveryLog: RecoveryLog;
  readonly #unseenLives: UnseenLives;
  readonly #serveState: (() => ServeState) | undefined;
  readonly #readers = new Map<object, SnapshotReader>();
  #sizes: SizeWatch | undefined;
  readonly #now: () => number;
  readonly #sinceMs: number;
  /** Timer that logs problems even without a reader. */
  #check: NodeJS.Timeout;
  /** Time of the last snapshot whose problems were logged. */
  #loggedMs = -Infinity;
  /** Which engines start, in words, for directories without rings, and when that was read. */
  readonly #starting = new Map<string, { readonly text: string | undefined; readonly ms: number }>();
  /** False before the first check: a snapshot may lack rings that the start still finds. */
  #isSettled = false;
  /** Totals and recovered counts at end(). */
  #last: { readonly snapshot: FeedSnapshot; readonly recovered: ReadonlyMap<number, RecoveredCounts> } | undefined;

  constructor(source: RingSource, logger: DiagLogger, options: FeedOptions = {}) {
    const { serveState, prepare, now = () => performance.now() } = options;
    this.source = source;
    this.#prepare = prepare;
    this.#log = new DiagOnce(logger);
    this.#recoveryLog = new RecoveryLog(logger, (agentId) => this.recovered(agentId));
    this.#serveState = serveState;
    this.#now = now;
    this.#unseenLives = new UnseenLives(now);
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
  async collect(
    reader: object,
    { slices, timeModels, ...wants }: CollectWants = {},
  ): Promise<FeedSnapshot | undefined> {
    if (!this.source.closed) await this.source.drain();
    const snapshot = await this.#collected(reader, wants, slices);
    if (timeModels === true) this.#addModels(snapshot);
    if (snapshot === undefined || this.#serveState === undefined) return snapshot;
    return { ...snapshot, serve: this.#serveState() };
  }

  async #collected(reader: object, wants: SnapshotWants, slices?: TimeSlices): Promise<FeedSnapshot | undefined> {
    if (this.source.closed) return this.#last?.snapshot;
    const own = this.#readers.get(reader);
    if (slices === undefined || own === undefined) return this.#snapshotFor(reader, wants);
    const snapshot = await own.snapshotInSlices(slices, wants);
    await this.#prepare?.(snapshot?.agents ?? [], slices);
    return snapshot === undefined || this.source.closed ? this.#last?.snapshot : this.#noted(snapshot);
  }

  /** Drains and returns at once, as collect() does for callers that cannot wait. */
  read(reader: object, { timeModels, ...wants }: CollectWants = {}): FeedSnapshot | undefined {
    if (this.source.closed) return this.#last?.snapshot;
    this.source.drainNow(READ_LIMIT_MS);
    const snapshot = this.#snapshotFor(reader, wants);
    if (timeModels === true) this.#addModels(snapshot);
    return snapshot;
  }

  #addModels(snapshot: Snapshot | undefined): void {
    const { models } = this.sizes;
    for (const agent of snapshot?.agents ?? []) (agent as Mutable<AgentSnapshot>).timeModels = models.get(agent.id);
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
    return this.source.closed ? this.#last?.snapshot : this.#peeked(this.source.snapshot(wants));
  }

  /** peek() in slices. Undefined if the source is closed meanwhile. */
  async peekInSlices(slices: TimeSlices, wants?: SnapshotWants): Promise<FeedSnapshot | undefined> {
    if (this.source.closed) return this.#last?.snapshot;
    const snapshot = await this.source.snapshotInSlices(slices, wants);
    await this.#prepare?.(snapshot?.agents ?? [], slices);
    return snapshot === undefined || this.source.closed ? undefined : this.#peeked(snapshot);
  }

  async timeBySize(): Promise<readonly AgentSizes[]> {
    if (this.source.closed) return [];
    await this.source.drain();
    return (await this.sizes.read(agentSizesIn)) ?? [];
  }

  /** Returns the watch of time by size. It begins with the first call. */
  get sizes(): SizeWatch {
    return (this.#sizes ??= new SizeWatch(
      (slices, wants) => this.peekInSlices(slices, wants),
      (error) =>
        this.#log.warn('source', 'time by size', `the last minute of time by size lacks a count: ${reasonOf(error)}`),
    ));
  }

  /**
   * Drains a last time and releases the rings. Readers get the totals as of then from now on, which have every event that was
   * taken out of a ring. `use` gets them while the source is still open.
   */
  async end(use: (last: FeedSnapshot) => void): Promise<void> {
    if (this.source.closed) return;
    await this.source.hold();
    const snapshot = this.#noted(this.source.snapshot({ sizeClasses: true }));
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
    this.#sizes?.close();
    if (!this.source.closed) this.source.close();
  }

  #snapshotFor(reader: object, wants?: SnapshotWants): FeedSnapshot {
    return this.#noted((this.#readers.get(reader) ?? this.source).snapshot(wants));
  }

  #peeked(snapshot: Snapshot): FeedSnapshot {
    return this.#isSettled ? this.#noted(snapshot) : this.#logged(snapshot);
  }

  #noted(snapshot: Snapshot): FeedSnapshot {
    const logged = this.#logged(snapshot);
    this.#recoveryLog.write(logged);
    return logged;
  }

  /** Unref'd: telemetry must not keep an idle process alive. */
  #checkAfter(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#isSettled = true;
      // A snapshot of the second half of this time had the same problems.
      const isDue = this.#now() - this.#loggedMs >= ms / 2;
      if (isDue) this.#log.guard('source', 'checking the rings', () => this.peek({ exponential: false }));
      this.#check = this.#checkAfter(Math.min(2 * ms, CHECK_INTERVAL_MS));
    }, ms).unref();
  }

  #logged(snapshot: Snapshot): FeedSnapshot {
    this.#loggedMs = this.#now();
    const places = [
      ...placeProblems(snapshot.places, this.#now() - this.#sinceMs, (directory) => this.#startingEngines(directory)),
      ...this.#unseenLives.problems(snapshot.agents),
    ];
    this.#logRings(snapshot);
    for (const problem of places) {
      // Once more when no engine starts any more.
      const code = `place ${problem.state} ${problem.reason.includes(' starting: ')}`;
      this.#log.warn(problem.path, code, oneLine(placeLine(problem)));
    }
    return {
      ...snapshot,
      problems: [...places, ...snapshot.problems],
      problemCount: snapshot.problemCount + places.length,
    };
  }

  /** Reads all command lines, therefore rarely. */
  #startingEngines(directory: string): string | undefined {
    const nowMs = this.#now();
    const last = this.#starting.get(directory);
    if (last !== undefined && nowMs - last.ms < STARTING_INTERVAL_MS) return last.text;
    const text = startingEngines(directory);
    this.#starting.set(directory, { text, ms: nowMs });
    return text;
  }

  #logRings({ problems, stateProblems, openDirectories, agents }: Snapshot): void {
    for (const { path, state, reason, count } of problemGroups(problems)) {
      const level = LOGGED[state];
      if (level === undefined) continue;
      if (count === 1) this.#log[level](path, state, oneLine(`ring ${path} is ${state}: ${reason}`));
      else this.#log[level](reason, state, oneLine(`${count} rings are ${state}, the first ${path}: ${reason}`));
    }
    for (const { path, reason } of stateProblems) {
      this.#log.warn(path, 'state file', oneLine(`state file of ring ${path}: ${reason}`));
    }
    for (const path of openDirectories) {
      const remedy = 'make it private, or name the owners of rings (option owners, flag --owner)';
      this.#log.warn(path, 'open', `any user may create rings in ${oneLine(path)}: ${remedy}`);
    }
    for (const { path, suspect, shared, writers, foreignMoves, events } of agents) {
      if (events.at(-1)?.overflow === true) {
        const message = `ring ${oneLine(path)} has more than 256 unknown kinds of events: further ones are counted as "overflow"`;
        this.#log.warn(path, 'overflow', message);
      }
      if (shared) {
        const pids = writers === undefined ? '' : `, now ${writers.join(', ')}`;
        const remedy = 'give each process its own directory or agent name';
        this.#log.warn(
          path,
          'shared',
          `several processes write ring ${oneLine(path)}${pids}, so its numbers may be wrong: ${remedy}`,
        );
      }
      if (suspect && (foreignMoves > 0 || !shared)) {
        const ring = `the numbers of ring ${oneLine(path)}`;
        const message =
          foreignMoves > 0
            ? `${ring} may be wrong: another consumer drained it as well`
            : `${ring} may be wrong: a restart of its agent could not be followed`;
        this.#log.warn(path, 'suspect', message);
      }
    }
  }
}

/** Feed for readers that are made before the source and may outlive it. */
export class LateFeed implements SnapshotFeed {
  readonly #readers = new Set<object>();
  readonly #listeners = new Set<SlowListener>();
  #feed: SourceFeed | undefined;

  attach(feed: SourceFeed | undefined): void {
    this.#feed = feed;
    for (const reader of this.#readers) feed?.join(reader);
    for (const listener of this.#listeners) feed?.sizes.listeners.add(listener);
  }

  /** Begins to judge the speed of transfers. Returns a function that removes the listener. */
  onSlowness(listener: SlowListener): () => void {
    this.#listeners.add(listener);
    this.#feed?.sizes.listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      this.#feed?.sizes.listeners.remove(listener);
    };
  }

  join(reader: object): void {
    this.#readers.add(reader);
    this.#feed?.join(reader);
  }

  leave(reader: object): void {
    this.#readers.delete(reader);
    this.#feed?.leave(reader);
  }

  async collect(reader: object, wants?: CollectWants): Promise<FeedSnapshot | undefined> {
    return this.#feed?.collect(reader, wants);
  }

  async timeBySize(): Promise<readonly AgentSizes[]> {
    return (await this.#feed?.timeBySize()) ?? [];
  }

  rings(): ReadonlySet<string> | undefined {
    return this.#feed?.rings();
  }

  recovered(agentId: number): RecoveredCounts | undefined {
    return this.#feed?.recovered(agentId);
  }
}
