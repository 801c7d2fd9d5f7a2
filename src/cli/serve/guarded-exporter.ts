/** Keeps a push exporter's troubles its own: whatever it throws, fails or never ends, the reader goes on. */
import { reasonOf } from '../../errors.js';
import type { ExportResult, PushMetricExporter, ResourceMetrics } from './sdk-types.js';
import { note } from '../output.js';

/** ExportResultCode.SUCCESS of @opentelemetry/core, which is the SDK's own business. */
const SUCCESS: number = 0;

/**
 * A failure is said once, and that it is over once: a collector that is down for an hour is one line, not sixty. The
 * reader is told that all is well, for it would say so at every interval.
 */
export class GuardedExporter implements PushMetricExporter {
  readonly #name: string;
  readonly #inner: PushMetricExporter;
  readonly #timeoutMs: number;
  #failures = 0;
  #busy = false;

  constructor(name: string, inner: PushMetricExporter, timeoutMs: number) {
    this.#name = name;
    this.#inner = inner;
    this.#timeoutMs = timeoutMs;
    if (inner.selectAggregationTemporality !== undefined) {
      this.selectAggregationTemporality = (type) => inner.selectAggregationTemporality!(type);
    }
    if (inner.selectAggregation !== undefined) {
      this.selectAggregation = (type) => inner.selectAggregation!(type);
    }
  }

  selectAggregationTemporality?: NonNullable<PushMetricExporter['selectAggregationTemporality']>;
  selectAggregation?: NonNullable<PushMetricExporter['selectAggregation']>;

  export(metrics: ResourceMetrics, resultCallback: (result: ExportResult) => void): void {
    let open = true;
    const end = (problem?: string): void => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      this.#judge(problem);
      resultCallback({ code: SUCCESS });
    };
    const timer = setTimeout(() => end(`nothing came of it in ${this.#timeoutMs} ms`), this.#timeoutMs).unref();
    if (this.#busy) return end('it is still busy with an earlier one');
    this.#busy = true;
    const broke = (error: unknown): void => {
      this.#busy = false;
      end(reasonOf(error));
    };
    try {
      const returned: unknown = this.#inner.export(metrics, (result) => {
        this.#busy = false;
        end((result?.code as number) === SUCCESS ? undefined : (result?.error?.message ?? 'it did not say why'));
      });
      // An asynchronous export() is easily written, and its rejection would end the process.
      Promise.resolve(returned).catch(broke);
    } catch (error) {
      broke(error);
    }
  }

  forceFlush(): Promise<void> {
    return this.#quietly(() => this.#inner.forceFlush());
  }

  shutdown(): Promise<void> {
    return this.#quietly(() => this.#inner.shutdown());
  }

  #judge(problem: string | undefined): void {
    if (problem !== undefined) {
      if (this.#failures++ === 0) {
        note(`exporter ${this.#name} failed: ${problem}; it is tried again at every interval`, 'warning');
      }
      return;
    }
    if (this.#failures > 0) note(`exporter ${this.#name} works again, after ${this.#failures} failed exports`);
    this.#failures = 0;
  }

  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      note(`exporter ${this.#name}: ${reasonOf(error)}`, 'warning');
    }
  }
}
