/** Ring that is followed by its name: read continues with the next file of that name, even if none is readable for a time. */
import path from 'node:path';
import type { RingEventColumns } from '../../shm-bridge/types.js';
import { ExitCode, type ExitCodeNumber, exitCodeOf, unavailability } from '../../process/failure.js';
import { note, warnOnce } from '../../process/output.js';
import { type Complaint, isNotPermitted, statOf } from '../../view/rings/ring-files.js';
import { lossExitCode, OpenedRing, type Reading } from './opened-ring.js';

/** Problems up to this age are not reported: an agent that rebuilds its ring passes through such states. */
const MOMENT_MS = 500;

interface FollowedProblem {
  /** Identifies the problem: a kind is reported once, even if numbers in its text change. */
  readonly kind: string;
  readonly text: string;
}

export class FollowedRing implements Reading {
  readonly agent: string;
  readonly #file: string;
  readonly #consume: boolean;
  readonly #warn = warnOnce();
  /** Undefined between a replaced file and the next ring. */
  #ring: OpenedRing | undefined;
  /** Inode of the open file, which no other file gets meanwhile. */
  #inode: number | undefined;
  #problem: string | undefined;
  #sinceMs = 0;
  #reported: string | undefined;
  #wasOpen = false;

  /**
   * Opens the file now. `unopened`: reported state of a file that could not be opened; take() opens it later.
   * @throws NixlTelemetryError RING_UNAVAILABLE
   */
  constructor(file: string, consume: boolean, unopened?: string) {
    this.#file = file;
    this.#consume = consume;
    this.agent = path.basename(file);
    this.#problem = this.#reported = unopened;
    if (unopened === undefined) this.#open();
  }

  take(most: number): RingEventColumns | undefined {
    const { inode, problem } = this.#currentFile();
    if (this.#ring === undefined) {
      const unopened = this.#retry();
      if (this.#ring === undefined) {
        if (unopened !== undefined) this.#report(unopened);
        return undefined;
      }
    } else if (inode !== undefined && inode !== this.#inode) {
      return this.#finish(this.#ring, most);
    }
    const events = this.#ring.take(most);
    this.#report(problem ?? this.#problemOf(this.#ring));
    if (this.#ring.stalled) {
      this.#warn(`${this.#file} is full: no consumer drains it, so its agent drops new events`);
    }
    return events;
  }

  /** Only reported problems count. A deleted file counts as success if it was read before: it was read to its end. */
  get exitCode(): ExitCodeNumber {
    const problem = this.#reported;
    if (problem === undefined || (problem === 'absent' && this.#wasOpen)) return ExitCode.OK;
    if (isNotPermitted({ text: '', code: problem })) return ExitCode.DENIED;
    return this.#wasOpen ? lossExitCode(problem) : exitCodeOf(problem);
  }

  close(): void {
    this.#ring?.close();
  }

  #open(): void {
    const { inode } = this.#currentFile();
    const ring = new OpenedRing(this.#file, this.#consume, this.#warn);
    // Another file may have got the name during the opening: the next take() tries again.
    if (this.#currentFile().inode !== inode) return ring.close();
    this.#ring = ring;
    this.#inode = inode;
    this.#wasOpen = true;
  }

  #retry(): FollowedProblem | undefined {
    try {
      this.#open();
      return undefined;
    } catch (error) {
      const { state = '', message } = unavailability(error);
      return { kind: state, text: message };
    }
  }

  /** Takes the rest of a replaced file. The next take() opens the new one. */
  #finish(ring: OpenedRing, most: number): RingEventColumns {
    const events = ring.take(most);
    if (events.length < most) {
      ring.close();
      this.#ring = undefined;
      this.#warn(`${this.#file} was replaced by another file: read continues with that file`);
    }
    return events;
  }

  /** Returns the inode of the file that has the name now. */
  #currentFile(): { inode?: number; problem?: FollowedProblem } {
    let complaint: Complaint | undefined;
    const inode = statOf(this.#file, (one) => (complaint = one))?.ino;
    if (inode !== undefined) return { inode };
    const text = complaint?.text ?? `${this.#file} was deleted; the next file of that name will be read`;
    return { problem: { kind: complaint?.code ?? 'absent', text } };
  }

  #problemOf(ring: OpenedRing): FollowedProblem | undefined {
    const { problem } = ring;
    return problem && { kind: problem.state, text: `${this.#file} is ${problem.state}: ${problem.reason}` };
  }

  /** Reports each lasting problem once, and its end once. */
  #report(problem: FollowedProblem | undefined): void {
    const nowMs = performance.now();
    if (problem?.kind !== this.#problem) this.#sinceMs = nowMs;
    this.#problem = problem?.kind;
    if (problem === undefined) {
      if (this.#reported !== undefined) note(`${this.#file} can be read again`);
      this.#reported = undefined;
    } else if (problem.kind !== this.#reported && nowMs - this.#sinceMs >= MOMENT_MS) {
      note(problem.text, 'warning');
      this.#reported = problem.kind;
    }
  }
}
