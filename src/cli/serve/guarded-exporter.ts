/** Shields the reader from a push exporter that throws, fails or never ends. */
import { reasonOf } from '../../errors.js';
import { note } from '../process/output.js';
import { exportProblem, type ExportProblem } from './export-problem.js';
import type { Owner } from './owners.js';
import type { ExportResult, PushMetricExporter, ResourceMetrics } from './sdk-types.js';

/** ExportResultCode.SUCCESS of @opentelemetry/core, which is the SDK's own business. */
const SUCCESS: number = 0;
/** Follows an export that took too long, which was reported. */
const BUSY: ExportProblem = { kind: 'busy', text: 'it is still busy with an earlier export' };
/** Lines of one outage: for its beginning, and for each further kind of failure. */
const MAX_LINES = 5;

export interface GuardOptions {
  readonly exporter: PushMetricExporter;
  readonly owner: Owner;
  readonly timeoutMs: number;
  readonly onFailure: () => void;
  /** URL of the receiver, without secrets. */
  readonly target?: string;
}

/**
 * A failure is reported when it begins and when it is over: a receiver that is down for an hour is two lines. The reader
 * is told that each export succeeded, for it would log every failure.
 */
export class GuardedExporter implements PushMetricExporter {
  readonly #inner: PushMetricExporter;
  readonly #options: GuardOptions;
  #failures = 0;
  /** Kinds of failure that were reported since the last success. */
  readonly #reported = new Set<string>();
  #busy = false;

  constructor(options: GuardOptions) {
    const { exporter, owner } = options;
    this.#options = options;
    this.#inner = exporter;
    if (exporter.selectAggregationTemporality !== undefined) {
      this.selectAggregationTemporality = (type) => owner.run(() => exporter.selectAggregationTemporality!(type));
    }
    if (exporter.selectAggregation !== undefined) {
      this.selectAggregation = (type) => owner.run(() => exporter.selectAggregation!(type));
    }
  }

  selectAggregationTemporality?: NonNullable<PushMetricExporter['selectAggregationTemporality']>;
  selectAggregation?: NonNullable<PushMetricExporter['selectAggregation']>;

  export(metrics: ResourceMetrics, resultCallback: (result: ExportResult) => void): void {
    const { owner, timeoutMs } = this.#options;
    let open = true;
    const end = (problem?: ExportProblem): void => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      this.#judge(problem);
      resultCallback({ code: SUCCESS });
    };
    const timer = setTimeout(
      () => end({ kind: 'timeout', text: `nothing came of it in ${timeoutMs} ms` }),
      timeoutMs,
    ).unref();
    if (this.#busy) return end(BUSY);
    this.#busy = true;
    const fail = (error: unknown): void => {
      const problem = exportProblem(error, owner.httpStatus);
      this.#busy = false;
      // One that took too long is a failure already; what it was is known only now.
      if (open) end(problem);
      else if (this.#failures > 0) this.#report(problem);
    };
    owner.httpStatus = undefined;
    try {
      const returned: unknown = owner.run(() =>
        this.#inner.export(metrics, (result) => {
          if ((result?.code as number) !== SUCCESS) return fail(result?.error ?? 'it did not say why');
          this.#busy = false;
          end();
        }),
      );
      // An asynchronous export() is easily written, and its rejection would end the process.
      Promise.resolve(returned).catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  forceFlush(): Promise<void> {
    return this.#quietly(() => this.#inner.forceFlush());
  }

  shutdown(): Promise<void> {
    return this.#quietly(() => this.#inner.shutdown());
  }

  #judge(problem: ExportProblem | undefined): void {
    const { owner } = this.#options;
    if (problem !== undefined) {
      this.#failures++;
      this.#options.onFailure();
      this.#report(problem);
      return;
    }
    if (this.#failures > 0) note(`${owner.name} works again, after ${this.#failures} failed exports`);
    this.#failures = 0;
    this.#reported.clear();
  }

  #report(problem: ExportProblem): void {
    const { kind, text } = problem;
    const lines = this.#reported.size;
    if (lines >= MAX_LINES || this.#reported.has(kind) || (problem === BUSY && lines > 0)) return;
    this.#reported.add(kind);
    const { owner, target } = this.#options;
    const reason = target === undefined ? text : `${target}: ${text}`;
    const said =
      lines === 0 ? `failed: ${reason}; it is tried again at every interval` : `now fails otherwise: ${reason}`;
    note(`${owner.name} ${said}`, 'warning');
  }

  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await this.#options.owner.run(work);
    } catch (error) {
      note(`${this.#options.owner.name}: ${reasonOf(error)}`, 'warning');
    }
  }
}
