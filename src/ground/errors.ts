/**
 * Reason of an error. PLATFORM_UNSUPPORTED: there are no rings on this platform, or the package has no binary for it.
 * ADDON_MISSING: the package has a binary for this platform, and it cannot be loaded. RING_IN_USE: another RingWriter holds
 * the file. RING_OVERTAKEN: another program wrote into the ring of a RingWriter.
 */
export type NixlTelemetryErrorCode =
  | 'ADDON_MISSING'
  | 'CONFIG_INVALID'
  | 'PLATFORM_UNSUPPORTED'
  | 'RING_UNAVAILABLE'
  | 'RING_CLOSED'
  | 'RING_IN_USE'
  | 'RING_NOT_DRAINED'
  | 'RING_OVERTAKEN'
  | 'RING_WRITE_FAILED'
  | 'SOURCE_CLOSED';

/** Error class of this package: `code` has the reason. */
export class NixlTelemetryError extends Error {
  readonly code: NixlTelemetryErrorCode;
  /** File that the error is about, if any. */
  readonly path?: string;
  /** With RING_UNAVAILABLE: absent, initializing, incompatible, corrupt, busy or denied. */
  readonly state?: string;

  constructor(
    code: NixlTelemetryErrorCode,
    message: string,
    given: { path?: string; state?: string; cause?: unknown } = {},
  ) {
    // Callers in JavaScript may pass null. If this constructor threw, the cause of the error would be hidden.
    const options = (given as typeof given | null) ?? {};
    super(reasonOf(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'NixlTelemetryError';
    this.code = code;
    if (options.path !== undefined) this.path = options.path;
    if (options.state !== undefined) this.state = options.state;
  }
}

export function isUnsupported(error: unknown): error is NixlTelemetryError & { readonly code: 'PLATFORM_UNSUPPORTED' } {
  return error instanceof NixlTelemetryError && error.code === 'PLATFORM_UNSUPPORTED';
}

/** Returns any thrown value as text. Never throws, even if the value's own methods do. */
export function reasonOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'a value that cannot be shown as text'; // such as an object without a prototype
  }
}

/** Returns undefined if the work throws: for failures whose reason has no effect. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Returns undefined for a text that is no JSON. */
export function parsedJson(text: string): unknown {
  return attempt((): unknown => JSON.parse(text));
}
