/** Watches time by size: keeps the last minute of all agents of a source, and the model of each direction. */
import type { AgentSnapshot } from '../../ground/tally.js';
import { TimeSlices } from '../../ground/time-slices.js';
import type { Snapshot, SnapshotWants } from '../../shm-bridge/index.js';
import { KeptSnapshot } from '../../shm-bridge/kept-snapshot.js';
import { type RecentSizes, KEEP_MS, SizeWindow } from '../../view/sizes/size-window.js';

/** Returns undefined after the source is closed. */
type PeekInSlices = (slices: TimeSlices, wants: SnapshotWants) => Promise<Snapshot | undefined>;

/** Time by size at one time. Its agents are valid until the use of it ends. */
export interface SizeReading {
  readonly takenMs: number;
  /** Span of the window. */
  readonly recentMs: number;
  /** The exported agents. */
  readonly agents: readonly AgentSnapshot[];
  readonly recentOf: (agent: AgentSnapshot) => RecentSizes;
}

export class SizeWatch {
  readonly #peekInSlices: PeekInSlices;
  readonly #window = new SizeWindow();
  readonly #kept = new KeptSnapshot();
  readonly #timer: NodeJS.Timeout;
  /** Readings share memory: each waits for the use of the one before. */
  #last: Promise<unknown> = Promise.resolve();
  #takenMs = -Infinity;

  /** `onFailure`: called if a reading without a request fails. Begins with a reading. */
  constructor(peekInSlices: PeekInSlices, onFailure: (error: unknown) => void) {
    this.#peekInSlices = peekInSlices;
    const keep = (): void => void this.read(async () => {}).catch(onFailure);
    keep();
    this.#timer = setInterval(keep, KEEP_MS).unref();
  }

  /** Reads all agents. Resolves to undefined after the source is closed. */
  read<T>(use: (reading: SizeReading, slices: TimeSlices) => Promise<T>): Promise<T | undefined> {
    const reading = this.#last.then(() => this.#read(use));
    this.#last = reading.catch(() => {});
    return reading;
  }

  async #read<T>(use: (reading: SizeReading, slices: TimeSlices) => Promise<T>): Promise<T | undefined> {
    const slices = new TimeSlices();
    const snapshot = await this.#peekInSlices(slices, { exponential: false, sizeClasses: true, kept: this.#kept });
    if (snapshot === undefined) return undefined;
    // A blocked collector repeats a snapshot, and the clock may be set back: the window goes on with the time that it has.
    const takenMs = (this.#takenMs = Math.max(this.#takenMs, snapshot.takenMs));
    // While the collector's thread is blocked, the first snapshot may be one without time by size.
    const agents = snapshot.agents.filter(({ exported, timeBySize }) => exported && timeBySize !== undefined);
    const recentOf = (agent: AgentSnapshot): RecentSizes => this.#window.recentOf(agent, takenMs);
    this.#window.take(takenMs, agents);
    return use({ takenMs, recentMs: this.#window.spanAt(takenMs), agents, recentOf }, slices);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
