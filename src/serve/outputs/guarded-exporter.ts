/** Shields the reader from a push exporter that throws, fails or never ends. */
import { intervalText } from '../../ground/figures/clock.js';
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { reasonOf } from '../../ground/errors.js';
import { oneLine } from '../../ground/one-line.js';
import { note } from '../../process/output.js';
import type { ExportFailure } from './output.js';
import type { Owner } from './owners.js';

/** The SDK's packages export this type from @opentelemetry/core only. */
type ExportResult = Parameters<Parameters<PushMetricExporter['export']>[1]>[0];

/** ExportResultCode.SUCCESS of @opentelemetry/core, which is internal to the SDK. */
const SUCCESS: number = 0;
/** Problem of an export that begins before the previous one has ended. The previous one timed out, which was reported. */
const BUSY: ExportProblem = { kind: 'busy', text: 'an earlier export has not ended' };
/** Most lines of one outage: one for its beginning, and one for each further kind of failure. */
const MAX_LINES = 5;
const MAX_TEXT = 300;

/** Cause of a failed export: an HTTP status, a grpc status or a system error. */
interface ExportProblem {
  /** Equal for failures that differ in details only. */
  readonly kind: string;
  readonly text: string;
}

export interface Guarding {
  /** URL of the receiver, without secrets. */
  readonly target?: string | undefined;
  /** Returns the resource of the next export. Default: that of the provider, which never changes. */
  readonly resource?: () => ResourceMetrics['resource'];
}

/**
 * Reports a failure when it begins and when it ends: an outage of an hour is two lines. The reader gets success for every
 * export, because it would log every failure.
 */
export class GuardedExporter implements PushMetricExporter {
  readonly #inner: PushMetricExporter;
  readonly #owner: Owner;
  readonly #timeoutMs: number;
  readonly #target: string | undefined;
  readonly #resource: (() => ResourceMetrics['resource']) | undefined;
  #failures = 0;
  #failing: ExportFailure | undefined;
  /** Reported kinds of failure since the last success. */
  readonly #reported = new Set<string>();
  #busy = false;

  constructor(exporter: PushMetricExporter, owner: Owner, timeoutMs: number, { target, resource }: Guarding = {}) {
    this.#inner = exporter;
    this.#owner = owner;
    this.#timeoutMs = timeoutMs;
    this.#target = target;
    this.#resource = resource;
    owner.exports?.follow();
    if (exporter.selectAggregationTemporality !== undefined) {
      this.selectAggregationTemporality = (type) => owner.run(() => exporter.selectAggregationTemporality!(type));
    }
    if (exporter.selectAggregation !== undefined) {
      this.selectAggregation = (type) => owner.run(() => exporter.selectAggregation!(type));
    }
  }

  /** Failure of all exports since the last success. */
  get failing(): ExportFailure | undefined {
    return this.#failing;
  }

  selectAggregationTemporality?: NonNullable<PushMetricExporter['selectAggregationTemporality']>;
  selectAggregation?: NonNullable<PushMetricExporter['selectAggregation']>;

  export(given: ResourceMetrics, resultCallback: (result: ExportResult) => void): void {
    const owner = this.#owner;
    const begin = performance.now();
    let open = true;
    const end = (problem?: ExportProblem): void => {
      if (!open) return;
      open = false;
      clearTimeout(timer);
      owner.exports?.ended(problem === undefined, (performance.now() - begin) / 1000);
      this.#judge(problem);
      resultCallback({ code: SUCCESS });
    };
    const late = { kind: 'timeout', text: `timed out after ${intervalText(this.#timeoutMs)}` };
    const timer = setTimeout(() => end(late), this.#timeoutMs);
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
    const metrics = this.#resource === undefined ? given : { ...given, resource: this.#resource() };
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
    if (problem !== undefined) {
      this.#failures++;
      this.#report(problem);
      return;
    }
    if (this.#failures > 0) note(`${this.#owner.name} works again, after ${this.#failures} failed exports`);
    this.#failures = 0;
    this.#failing = undefined;
    this.#reported.clear();
  }

  #report(problem: ExportProblem): void {
    const { kind, text } = problem;
    const reason = this.#target === undefined ? text : `${this.#target}: ${text}`;
    // The cause is that of the export before.
    if (problem !== BUSY || this.#failing === undefined) {
      this.#failing = { failingSinceMs: this.#failing?.failingSinceMs ?? Date.now(), reason };
    }
    const lines = this.#reported.size;
    if (lines >= MAX_LINES || this.#reported.has(kind) || (problem === BUSY && lines > 0)) return;
    this.#reported.add(kind);
    const event =
      lines === 0 ? `failed: ${reason}; it retries at every interval` : `now fails for another reason: ${reason}`;
    note(`${this.#owner.name} ${event}`, 'warning');
  }

  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await this.#owner.run(work);
    } catch (error) {
      note(`${this.#owner.name}: ${reasonOf(error)}`, 'warning');
    }
  }
}

/** Fields of the errors of system calls, of OTLP over HTTP and of grpc. */
interface KnownError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly details?: unknown;
  readonly errors?: readonly unknown[];
}

/** `httpStatus`: of the last response. The SDK does not report a status that it would have retried. */
export function exportProblem(error: unknown, httpStatus?: string): ExportProblem {
  const { name, code, details, errors } = (typeof error === 'object' && error !== null ? error : {}) as KnownError;
  const reason = reasonOf(error);
  if (name === 'OTLPExporterError' && httpStatus !== undefined) return problem(httpStatus, httpStatus);
  if (typeof code === 'number' && typeof details === 'string') {
    return problem(`grpc ${code} ${systemErrorIn(reason)}`, `grpc status ${reason || code}`);
  }
  if (typeof code === 'string') {
    // If a host has several addresses, each has an error, and the error of the host has no message.
    const text = reason || (errors ?? []).map(reasonOf).join(', ');
    return problem(code, text.includes(code) ? text : `${code}: ${text}`);
  }
  return problem(reason.replaceAll(/\d+/g, '0'), reason);
}

function problem(kind: string, text: string): ExportProblem {
  const line = oneLine(text);
  return { kind, text: line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}...` : line };
}

function systemErrorIn(text: string): string {
  return /\bE[A-Z]{3,}\b/.exec(text)?.[0] ?? '';
}
