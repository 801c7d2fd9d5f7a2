/** All files of one `read`. An unreadable file causes a note and an exit code; read continues with the others. */
import path from 'node:path';
import { ExitCode, type ExitCodeNumber, exitCodeOf, Failure, unavailability } from '../../process/failure.js';
import { note } from '../../process/output.js';
import { isUndecodable, NOT_UTF8 } from '../../view/rings/ring-files.js';
import type { FollowedRing } from './followed-ring.js';
import { OpenedRing, type Reading } from './opened-ring.js';

/** Exit codes by gravity: the gravest one of all files wins. */
const GRAVEST_FIRST = [ExitCode.INCOMPATIBLE, ExitCode.DENIED, ExitCode.NO_RINGS, ExitCode.FAILED];

export class Readings {
  /** The given files in order, without repetitions. */
  readonly files: readonly string[];
  readonly open: Reading[] = [];
  /** Exit codes of files that were never opened. */
  readonly #codes: ExitCodeNumber[] = [];

  /**
   * Opens the files. `Followed`: class of the readings, if they continue with replaced files.
   * @throws Failure if none can be read; NixlTelemetryError ADDON_MISSING, CONFIG_INVALID
   */
  constructor(given: readonly string[], consume = false, Followed?: typeof FollowedRing) {
    const resolved = given.map((file) => path.resolve(file));
    this.files = given.filter((_, i) => resolved.indexOf(resolved[i]!) === i);
    const awaited: FollowedRing[] = [];
    try {
      for (const file of this.files) {
        try {
          this.open.push(Followed === undefined ? new OpenedRing(file, consume) : new Followed(file, consume));
        } catch (error) {
          const { message: found, state = '' } = unavailability(error);
          const message = isUndecodable(file) ? `${file} cannot be opened: ${NOT_UTF8}` : found;
          const code = exitCodeOf(state);
          if (this.files.length === 1) throw new Failure(message, code);
          note(message, 'warning');
          this.#codes.push(code);
          if (Followed !== undefined) awaited.push(new Followed(file, consume, state));
        }
      }
    } catch (error) {
      this.close();
      throw error;
    }
    if (this.open.length === 0) throw new Failure('none of these files is a ring that can be read', this.exitCode);
    if (awaited.length > 0) this.#codes.length = 0; // followed files have their own codes, and may become rings
    this.open.push(...awaited);
  }

  /** Number of files that cannot be read now. */
  get unreadable(): number {
    return this.#allCodes().filter((code) => code !== ExitCode.OK).length;
  }

  /** 4 if a file is no ring or was truncated, else 5 if one cannot be opened, else 3 if one does not exist. */
  get exitCode(): ExitCodeNumber {
    const codes = this.#allCodes();
    return GRAVEST_FIRST.find((code) => codes.includes(code)) ?? ExitCode.OK;
  }

  /** Writes a note for each lost ring that has no note yet. */
  reportLoss(): void {
    for (const reading of this.open) reading.reportLoss?.();
  }

  close(): void {
    for (const reading of this.open) reading.close();
  }

  #allCodes(): ExitCodeNumber[] {
    return [...this.#codes, ...this.open.map(({ exitCode }) => exitCode)];
  }
}
