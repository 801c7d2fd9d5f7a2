/** Owner of the running code, an exporter or a builder: also in timers, promises and events that the code began. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { hideRepetitions } from '../../process/diag.js';
import type { ExportLog } from './export-log.js';
import { attempt } from '../../ground/errors.js';

export class Owner {
  /** For messages: `exporter ./mine.mjs`. */
  readonly name: string;
  /** True for the SDK's own code: its log lines are about failures that serve reports. */
  readonly isBuiltIn: boolean;
  /** Paths in stack traces of its code. */
  readonly files: string[] = [];
  /** Number of errors that it threw outside of every call. */
  lateErrors = 0;
  /** Status of its last HTTP response, as `HTTP 503 Service Unavailable`. */
  httpStatus: string | undefined;
  /** Undefined for a builder. */
  readonly exports: ExportLog | undefined;

  constructor(name: string, { isBuiltIn = false, exports }: { isBuiltIn?: boolean; exports?: ExportLog } = {}) {
    this.name = name;
    this.isBuiltIn = isBuiltIn;
    this.exports = exports;
    known.add(this);
  }

  run<T>(work: () => T): T {
    return running.run(this, work);
  }
}

const running = new AsyncLocalStorage<Owner>();
const known = new Set<Owner>();

export function currentOwner(): Owner | undefined {
  return running.getStore();
}

/** Finds the owner by the files in the stack: a listener of a shared emitter runs in a foreign context. */
export function ownerInStack(error: unknown): Owner | undefined {
  // Any value may be thrown, and `stack` may be a getter that throws.
  const stack = attempt(() => String((error as Error | undefined)?.stack ?? '')) ?? '';
  return [...known].find(({ files }) => files.some((file) => stack.includes(file)));
}

const MAX_REMEMBERED = 100;

/** Hides the SDK's log lines about failed exports, which serve reports itself, and logs its other lines once each. */
export function followExports(): void {
  const logged = new Set<string>();
  rememberHttpStatus();
  hideRepetitions((level, line) => {
    if (currentOwner()?.isBuiltIn !== true) return false;
    // "Export retry time ... exceeds", "Export failed with ...": at nearly every interval of an outage.
    if (level === 'info') return true;
    const kind = line.replaceAll(/\d+/g, '0');
    if (logged.has(kind) || logged.size >= MAX_REMEMBERED) return true;
    logged.add(kind);
    return false;
  });
}

/** The SDK's OTLP exporter does not report the status of a response that it would have retried. */
function rememberHttpStatus(): void {
  subscribe('http.client.response.finish', (message) => {
    const { response } = message as { response?: { statusCode?: number; statusMessage?: string } };
    const owner = currentOwner();
    if (owner !== undefined && response?.statusCode !== undefined) {
      owner.httpStatus = `HTTP ${response.statusCode} ${response.statusMessage ?? ''}`.trim();
    }
  });
}
