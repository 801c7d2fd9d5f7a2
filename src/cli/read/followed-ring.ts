/** A ring that is followed by its name: into the next file of that name, and over times in which there is none to read. */
import path from 'node:path';
import type { RingEventColumns } from '../../shm-bridge/types.js';
import { ExitCode, type ExitCodeNumber, exitCodeOf, unavailability } from '../process/failure.js';
import { note, warnOnce } from '../process/output.js';
import { type Complaint, isNotPermitted, statOf } from '../ring-files.js';
import { lostCode, OpenedRing, type Reading } from './opened-ring.js';

/** An agent that makes its ring anew passes through states in which there is none: no more than a moment. */
const MOMENT_MS = 500;

interface Problem {
  /** Which of its kind is not told twice: the words may have numbers in them that change. */
  readonly kind: string;
  readonly text: string;
}

export class FollowedRing implements Reading {
  readonly agent: string;
  readonly #file: string;
  readonly #consume: boolean;
  readonly #sayOnce = warnOnce();
  /** Undefined between the file that was replaced and the next that is a ring. */
  #ring: OpenedRing | undefined;
  /** Of the opened file, which keeps its number while it is open. */
  #inode: number | undefined;
  #problem: string | undefined;
  #sinceMs = 0;
  #told: string | undefined;
  #wasOpen = false;

  /**
   * `unopened`: in which state the file was found already, of which there was a note.
   * @throws NixlTelemetryError RING_UNAVAILABLE
   */
  constructor(file: string, consume: boolean, unopened?: string) {
    this.#file = file;
    this.#consume = consume;
    this.agent = path.basename(file);
    this.#problem = this.#told = unopened;
    if (unopened === undefined) this.#open();
  }

  /** Follows a file that is no ring yet. */
  static awaited(file: string, consume: boolean, state: string): FollowedRing {
    return new FollowedRing(file, consume, state);
  }

  take(most: number): RingEventColumns {
    const { inode, problem } = this.#named();
    if (this.#ring === undefined) {
      const unopened = this.#tryToOpen();
      if (this.#ring === undefined) {
        if (unopened !== undefined) this.#tell(unopened);
        return nothing();
      }
    } else if (inode !== undefined && inode !== this.#inode) {
      return this.#lastOf(this.#ring, most);
    }
    const events = this.#ring.take(most);
    this.#tell(problem ?? this.#problemOf(this.#ring));
    if (this.#ring.stalled) {
      this.#sayOnce(`${this.#file} is full and stands still: nobody drains it, and its agent drops what is new`);
    }
    return events;
  }

  /** A file that is gone was read to its end, if it was ever read. What lasts no longer than a moment does not count. */
  get exitCode(): ExitCodeNumber {
    const problem = this.#told;
    if (problem === undefined || (problem === 'absent' && this.#wasOpen)) return ExitCode.OK;
    if (isNotPermitted({ text: '', code: problem })) return ExitCode.DENIED;
    return this.#wasOpen ? lostCode(problem) : exitCodeOf(problem);
  }

  /** Does nothing: take() wrote the note. */
  noteLost(): void {}

  close(): void {
    this.#ring?.close();
  }

  #open(): void {
    const { inode } = this.#named();
    const ring = new OpenedRing(this.#file, this.#consume, this.#sayOnce);
    // Not the file that was opened, perhaps: the next look opens what the name stands for then.
    if (this.#named().inode !== inode) return ring.close();
    this.#ring = ring;
    this.#inode = inode;
    this.#wasOpen = true;
  }

  #tryToOpen(): Problem | undefined {
    try {
      this.#open();
      return undefined;
    } catch (error) {
      const { state = '', message } = unavailability(error);
      return { kind: state, text: message };
    }
  }

  /** What the old file still holds; the new one is opened once that was taken. */
  #lastOf(ring: OpenedRing, most: number): RingEventColumns {
    const events = ring.take(most);
    if (events.length < most) {
      ring.close();
      this.#ring = undefined;
      this.#sayOnce(`${this.#file} is another file now, which is read instead`);
    }
    return events;
  }

  /** What the name stands for. */
  #named(): { inode?: number; problem?: Problem } {
    let complaint: Complaint | undefined;
    const inode = statOf(this.#file, (one) => (complaint = one))?.ino;
    if (inode !== undefined) return { inode };
    const text = complaint?.text ?? `${this.#file} is gone; another of that name will be read`;
    return { problem: { kind: complaint?.code ?? 'absent', text } };
  }

  #problemOf(ring: OpenedRing): Problem | undefined {
    const { problem } = ring;
    return problem && { kind: problem.state, text: `${this.#file} is ${problem.state}: ${problem.reason}` };
  }

  /** Once for each problem that stays, and once when there is none any more. */
  #tell(problem: Problem | undefined): void {
    const nowMs = performance.now();
    if (problem?.kind !== this.#problem) this.#sinceMs = nowMs;
    this.#problem = problem?.kind;
    if (problem === undefined) {
      if (this.#told !== undefined) note(`${this.#file} can be read again`);
      this.#told = undefined;
    } else if (problem.kind !== this.#told && nowMs - this.#sinceMs >= MOMENT_MS) {
      note(problem.text, 'warning');
      this.#told = problem.kind;
    }
  }
}

function nothing(): RingEventColumns {
  return {
    length: 0,
    kinds: [],
    kindOf: new Uint32Array(0),
    values: new BigUint64Array(0),
    timestampsUs: new BigUint64Array(0),
  };
}
