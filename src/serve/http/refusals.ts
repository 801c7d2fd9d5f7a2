/** Refused requests and connections of the HTTP server: counted, and logged from time to time. */
import type { RefusalReason } from '../../instrumentation/serve-state.js';
import { note } from '../../process/output.js';

/** Time between two log lines about refusals for the same reason. */
const LOG_INTERVAL_MS = 60_000;

export class Refusals {
  /** Since the start. */
  readonly counts = new Map<RefusalReason, number>();
  readonly #loggedMs = new Map<RefusalReason, number>();

  refused(reason: RefusalReason, text: string, address: string | undefined): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
    const nowMs = performance.now();
    if (nowMs - (this.#loggedMs.get(reason) ?? -Infinity) < LOG_INTERVAL_MS) return;
    this.#loggedMs.set(reason, nowMs);
    const at = address === undefined ? '' : ` at ${address}`; // a Unix socket has none
    // A browser asks once without credentials.
    note(`a client${at} was refused (${reason}): ${text}`, reason === 'no_credentials' ? 'info' : 'warning');
  }
}
