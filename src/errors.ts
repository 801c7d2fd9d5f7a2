/** Why this package threw. */
export type NixlTelemetryErrorCode =
  'ADDON_MISSING' | 'CONFIG_INVALID' | 'RING_UNAVAILABLE' | 'RING_CLOSED' | 'RING_WRITE_FAILED' | 'SOURCE_CLOSED';

/** The one error class of this package: tell errors apart by `code`. */
export class NixlTelemetryError extends Error {
  readonly code: NixlTelemetryErrorCode;
  /** The file that the error is about, where there is one. */
  readonly path?: string;
  /** With RING_UNAVAILABLE: absent, initializing, incompatible, corrupt, busy or denied. */
  readonly state?: string;

  constructor(
    code: NixlTelemetryErrorCode,
    message: string,
    given: { path?: string; state?: string; cause?: unknown } = {},
  ) {
    // An error that throws when it is made would hide what went wrong.
    const options = (given as typeof given | null) ?? {};
    super(text(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'NixlTelemetryError';
    this.code = code;
    if (options.path !== undefined) this.path = options.path;
    if (options.state !== undefined) this.state = options.state;
  }
}

/** Any thrown value in one line. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : text(error);
}

function text(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'an object that cannot be read'; // without a prototype, say
  }
}
