/** One diag line per (subject, code): a broken ring must not fill the host's log at every collect. */
import type { DiagLogger } from '@opentelemetry/api';
import { reasonOf } from '../errors.js';

const MAX_REMEMBERED = 1000;

export class DiagOnce {
  readonly #logger: DiagLogger;
  readonly #said = new Set<string>();

  constructor(logger: DiagLogger) {
    this.#logger = logger;
  }

  debug(subject: string, code: string, message: string): void {
    if (this.#isNew(subject, code)) this.#logger.debug(message);
  }

  warn(subject: string, code: string, message: string): void {
    if (this.#isNew(subject, code)) this.#logger.warn(message);
  }

  error(subject: string, code: string, message: string): void {
    if (this.#isNew(subject, code)) this.#logger.error(message);
  }

  /** `what`: tells failures apart, and begins the line. */
  failure(subject: string, what: string, error: unknown): void {
    this.error(subject, what, `${what} failed: ${reasonOf(error)}`);
  }

  /** Goes on when the work throws, and tells it as a failure. */
  guard(subject: string, what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.failure(subject, what, error);
    }
  }

  /** Remembers at most 1000 subjects, so that files that come and go cost no memory; later ones stay unsaid. */
  #isNew(subject: string, code: string): boolean {
    const key = `${code}\0${subject}`;
    if (this.#said.has(key) || this.#said.size > MAX_REMEMBERED) return false;
    this.#said.add(key);
    if (this.#said.size > MAX_REMEMBERED) {
      this.#logger.warn(`more than ${MAX_REMEMBERED} rings had something to report; further ones stay unsaid`);
      return false;
    }
    return true;
  }
}
