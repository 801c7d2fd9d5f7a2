/** Counts the exports of one exporter of serve. */
import type { ExporterState, ExportResults } from '../../instrumentation/serve-state.js';

export class ExportLog {
  /** As in `nixl.exporter.failures`. */
  readonly exporter: string;
  #failures = 0;
  #results: ExportResults | undefined;

  constructor(exporter: string) {
    this.exporter = exporter;
  }

  /** Begins to count results at 0: each export will be reported to ended(). */
  follow(): void {
    this.#results ??= { success: 0, failed: 0, seconds: 0 };
  }

  ended(isSuccess: boolean, seconds: number): void {
    const { success, failed, seconds: before } = this.#results!;
    this.#results = {
      success: success + (isSuccess ? 1 : 0),
      failed: failed + (isSuccess ? 0 : 1),
      seconds: before + seconds,
    };
    if (!isSuccess) this.#failures++;
  }

  /** Counts an error that the exporter threw outside of an export. */
  threwLate(): void {
    this.#failures++;
  }

  /** Returns a copy that later exports do not change. */
  state(): ExporterState {
    return { exporter: this.exporter, failures: this.#failures, results: this.#results };
  }
}
