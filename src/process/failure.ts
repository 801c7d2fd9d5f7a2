/** Exit codes and user errors. */
import { NixlTelemetryError, reasonOf } from '../ground/errors.js';

export const ExitCode = {
  OK: 0,
  FAILED: 1,
  USAGE: 2,
  NO_RINGS: 3,
  /** A ring of an unknown version, or a file that is no ring. */
  INCOMPATIBLE: 4,
  /** Not permitted, or another consumer holds the ring. */
  DENIED: 5,
} as const;

export type ExitCodeNumber = (typeof ExitCode)[keyof typeof ExitCode];

/**
 * An error that the user can understand and act on: one line, without a stack. The message is empty if another process has
 * printed the reason.
 */
export class Failure extends Error {
  readonly exitCode: ExitCodeNumber;

  constructor(message: string, exitCode: ExitCodeNumber = ExitCode.FAILED) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs the work and turns an error into a Failure with a message that begins with `what`. A Failure passes unchanged. */
export async function orFailure<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(`${what}: ${reasonOf(error)}`);
  }
}

const CODES_OF_STATES: Readonly<Record<string, ExitCodeNumber>> = {
  absent: ExitCode.NO_RINGS,
  initializing: ExitCode.NO_RINGS,
  incompatible: ExitCode.INCOMPATIBLE,
  corrupt: ExitCode.INCOMPATIBLE,
  busy: ExitCode.DENIED,
  denied: ExitCode.DENIED,
};

/** Returns the exit code for the state of a ring that cannot be used. */
export function exitCodeOf(state: string | undefined): ExitCodeNumber {
  return CODES_OF_STATES[state ?? ''] ?? ExitCode.FAILED;
}

/** Returns an error about a ring that cannot be used. Throws every other error. */
export function unavailability(error: unknown): NixlTelemetryError {
  if (error instanceof NixlTelemetryError && error.code === 'RING_UNAVAILABLE') return error;
  throw error;
}
