/** Fresh snapshots of one source, and what they say about rings put into the log once. */
import type { DiagLogger } from '@opentelemetry/api';
import type { RingSource, SnapshotReader } from '../shm-bridge/index.js';
import type { AgentSnapshot, RingState, Snapshot } from '../shm-bridge/types.js';
import { DiagOnce } from './diag-once.js';
import { oneLine } from './one-line.js';

/**
 * Where a collect gets its numbers. A reader is any object that stands for itself: the last values of a dead agent stay
 * until all readers that joined have read them.
 */
export interface SnapshotFeed {
  join(reader: object): void;
  leave(reader: object): void;
  /** Undefined: there is no source (any more). */
  read(reader: object): ReaderSnapshot | undefined;
  /** Paths of the rings that are reported at present, without draining anything. Undefined as for read(). */
  rings(): ReadonlySet<string> | undefined;
}

export interface ReaderSnapshot extends Snapshot {
  /** Readings that this reader gets in place of `agents`. Default: `agents`. */
  readonly shown?: readonly AgentSnapshot[];
  /** The reader gets the collector's own metrics from another producer. */
  readonly withoutSelf?: boolean;
}

/** Worth a line in the log; the other states are how rings come and go. What is no ring at all is nothing to warn of. */
const REPORTED: Readonly<Partial<Record<RingState, 'warn' | 'debug'>>> = {
  incompatible: 'warn',
  denied: 'warn',
  busy: 'warn',
  corrupt: 'debug',
};

export class SourceFeed implements SnapshotFeed {
  readonly source: RingSource;
  readonly #said: DiagOnce;
  readonly #readers = new Map<object, SnapshotReader>();

  constructor(source: RingSource, logger: DiagLogger) {
    this.source = source;
    this.#said = new DiagOnce(logger);
  }

  join(reader: object): void {
    if (!this.source.closed && !this.#readers.has(reader)) this.#readers.set(reader, this.source.openReader());
  }

  leave(reader: object): void {
    this.#readers.get(reader)?.close();
    this.#readers.delete(reader);
  }

  /** Drains first, so that a reader's last collect before the exit holds everything that the rings held. */
  read(reader: object): Snapshot | undefined {
    if (this.source.closed) return undefined;
    this.source.drainNow();
    const snapshot = (this.#readers.get(reader) ?? this.source).snapshot();
    this.#report(snapshot);
    return snapshot;
  }

  rings(): ReadonlySet<string> | undefined {
    if (this.source.closed) return undefined;
    const { agents } = this.source.snapshot();
    return new Set(agents.filter(({ exported }) => exported).map(({ path }) => path));
  }

  /** What is known without draining anything. */
  look(): Snapshot | undefined {
    if (this.source.closed) return undefined;
    const snapshot = this.source.snapshot();
    this.#report(snapshot);
    return snapshot;
  }

  close(): void {
    if (!this.source.closed) this.source.close();
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

  read(reader: object): Snapshot | undefined {
    return this.#feed?.read(reader);
  }

  rings(): ReadonlySet<string> | undefined {
    return this.#feed?.rings();
  }
}
