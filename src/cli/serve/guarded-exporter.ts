/** Shields the reader from a push exporter that throws, fails or never ends. */
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { reasonOf } from '../../errors.js';
import { note } from '../process/output.js';
import { exportProblem, type ExportProblem } from './export-problem.js';
import type { Owner } from './owners.js';

/** The SDK's packages export this type from @opentelemetry/core only. */
export type ExportResult = Parameters<Parameters<PushMetricExporter['export']>[1]>[0];

/** ExportResultCode.SUCCESS of @opentelemetry/core, which is internal to the SDK. */
const SUCCESS: number = 0;
/** Follows an export that timed out, which was reported. */
const BUSY: ExportProblem = { kind: 'busy', text: 'an earlier export has not ended' };
/** Most lines of one outage: one for its beginning, and one for each further kind of failure. */
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
 * Reports a failure when it begins and when it ends: an outage of an hour is two lines. The reader gets success for every
 * export, because it would log every failure.
 */
export class GuardedExporter implements PushMetricExporter {
  readonly #inner: PushMetricExporter;
  readonly #options: GuardOptions;
  #failures = 0;
  /** Reported kinds of failure since the last success. */
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
    const timer = setTimeout(() => end({ kind: 'timeout', text: `timed out after ${timeoutMs} ms` }), timeoutMs);
    timer.unref();
    if (this.#busy) return end(BUSY);
    this.#busy = true;
    const fail = (error: unknown): void => {
      const problem = exportProblem(error, owner.httpStatus);
      this.#busy = false;
      // An export that timed out is a failure already; only now its cause is known.
      if (open) end(problem);
      else if (this.#failures > 0) this.#report(problem);
    };
    owner.httpStatus = undefined;
    try {
      const returned: unknown = owner.run(() =>
        this.#inner.export(metrics, (result) => {
          if ((result?.code as number) !== SUCCESS) return fail(result?.error ?? 'no reason given');
          this.#busy = false;
          end();
        }),
      );
      // The rejection of an asynchronous export() would end the process.
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
    const event =
      lines === 0 ? `failed: ${reason}; it retries at every interval` : `now fails for another reason: ${reason}`;
    note(`${owner.name} ${event}`, 'warning');
  }

  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await this.#options.owner.run(work);
    } catch (error) {
      note(`${this.#options.owner.name}: ${reasonOf(error)}`, 'warning');
    }
  }
}
