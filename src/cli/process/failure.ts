/** What a command ends with. */
import { NixlTelemetryError, reasonOf } from '../../errors.js';

export const ExitCode = {
  OK: 0,
  FAILED: 1,
  USAGE: 2,
  NO_RINGS: 3,
  /** A ring of an unknown version, or a file that is none. */
  INCOMPATIBLE: 4,
  /** Not permitted, or another consumer holds the ring. */
  DENIED: 5,
} as const;

export type ExitCodeNumber = (typeof ExitCode)[keyof typeof ExitCode];

/** Something that the user can understand and act on: shown as one line, without a stack. */
export class Failure extends Error {
  readonly exitCode: ExitCodeNumber;

  constructor(message: string, exitCode: ExitCodeNumber = ExitCode.FAILED) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Whatever the work throws is a Failure that begins with these words; a Failure stays as it is. */
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

/** Of a ring that cannot be used, by its state. */
export function exitCodeOf(state: string | undefined): ExitCodeNumber {
  return CODES_OF_STATES[state ?? ''] ?? ExitCode.FAILED;
}

/** The error, where it says that a ring cannot be used; any other is thrown on. */
export function unavailability(error: unknown): NixlTelemetryError {
  if (error instanceof NixlTelemetryError && error.code === 'RING_UNAVAILABLE') return error;
  throw error;
}
