/** Which exporter or builder the running code belongs to, also in the timers, promises and events that it began. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';

export class Owner {
  /** As in a message: `exporter ./mine.mjs`. */
  readonly name: string;
  /** The SDK's own code: its log lines are about failures that are reported already. */
  readonly isBuiltIn: boolean;
  /** Paths that a stack trace of its code holds. */
  readonly files: string[] = [];
  /** Errors that it threw outside of every call. */
  lateErrors = 0;
  /** Status of its last HTTP response, as `HTTP 503 Service Unavailable`. */
  httpStatus: string | undefined;
  readonly #onLateError: () => void;

  constructor(name: string, { isBuiltIn = false, onLateError = (): void => {} } = {}) {
    this.name = name;
    this.isBuiltIn = isBuiltIn;
    this.#onLateError = onLateError;
    known.add(this);
  }

  run<T>(work: () => T): T {
    return running.run(this, work);
  }

  /** @returns how often that happened by now. */
  countLateError(): number {
    this.#onLateError();
    return ++this.lateErrors;
  }
}

const running = new AsyncLocalStorage<Owner>();
const known = new Set<Owner>();

export function currentOwner(): Owner | undefined {
  return running.getStore();
}

/** Code that was called from elsewhere, such as a listener of a shared emitter, still has its file in the stack. */
export function ownerInStack(error: unknown): Owner | undefined {
  const stack = stackOf(error);
  return [...known].find(({ files }) => files.some((file) => stack.includes(file)));
}

/** Any value may have been thrown, and `stack` may be a getter of anyone's. */
function stackOf(error: unknown): string {
  try {
    return String((error as Error | undefined)?.stack ?? '');
  } catch {
    return '';
  }
}

/** The SDK's OTLP exporter does not report the status of a response that it would have retried. */
export function noteHttpStatus(): void {
  subscribe('http.client.response.finish', (message) => {
    const { response } = message as { response?: { statusCode?: number; statusMessage?: string } };
    const owner = currentOwner();
    if (owner !== undefined && response?.statusCode !== undefined) {
      owner.httpStatus = `HTTP ${response.statusCode} ${response.statusMessage ?? ''}`.trim();
    }
  });
}
