/** How many exports of each exporter failed: for the metric `nixl.exporter.failures`. */
export interface FailedExports {
  readonly exporter: string;
  readonly count: number;
}

export class ExporterFailures {
  readonly #counts: Map<string, number>;

  /** Each exporter is listed from the start, at 0. */
  constructor(exporters: readonly string[]) {
    this.#counts = new Map(exporters.map((exporter) => [exporter, 0]));
  }

  add(exporter: string): void {
    this.#counts.set(exporter, (this.#counts.get(exporter) ?? 0) + 1);
  }

  /** As of now, always in the same order. */
  get counts(): readonly FailedExports[] {
    return [...this.#counts].map(([exporter, count]) => ({ exporter, count }));
  }
}
