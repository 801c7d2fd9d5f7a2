/** Cause of a failed export: an HTTP status, a grpc status or a system error. */
import { reasonOf } from '../../errors.js';
import { oneLine } from '../../one-line.js';

export interface ExportProblem {
  /** Equal for failures that differ in details only. */
  readonly kind: string;
  readonly text: string;
}

const MAX_TEXT = 300;

/** Fields of the errors of system calls, of OTLP over HTTP and of grpc. */
interface KnownError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly details?: unknown;
  readonly errors?: readonly unknown[];
}

/** `httpStatus`: of the last response. The SDK reports no status that it would have retried. */
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
