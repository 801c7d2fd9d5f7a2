/** Limits diag to one line per (subject, code): a broken ring must not fill the service's log at every collect. */
import type { DiagLogger } from '@opentelemetry/api';
import { reasonOf } from '../../ground/errors.js';

const MAX_REMEMBERED = 1000;

export class DiagOnce {
  readonly #logger: DiagLogger;
  readonly #logged = new Set<string>();

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

  /** `task`: code of the failure, and the beginning of its line. */
  failure(subject: string, task: string, error: unknown): void {
    this.error(subject, task, `${task} failed: ${reasonOf(error)}`);
  }

  /** Runs `work` and logs an error that it throws. */
  guard(subject: string, task: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.failure(subject, task, error);
    }
  }

  /** Remembers at most 1000 pairs, so that short-lived files cost no memory. Later pairs are not logged. */
  #isNew(subject: string, code: string): boolean {
    const key = `${code}\0${subject}`;
    if (this.#logged.has(key) || this.#logged.size > MAX_REMEMBERED) return false;
    this.#logged.add(key);
    if (this.#logged.size > MAX_REMEMBERED) {
      this.#logger.warn(`more than ${MAX_REMEMBERED} rings had problems: further ones are not logged`);
      return false;
    }
    return true;
  }
}
