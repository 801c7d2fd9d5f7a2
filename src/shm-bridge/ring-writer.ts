import { check, pathArgument, isObject, optionsObject, u64, wholeNumberArgument } from '../ground/arguments.js';
import { isUnsupported, NixlTelemetryError } from '../ground/errors.js';
import { addon, OpenHandle } from './addon.js';

export interface RingWriterOptions {
  /** Layout of the ring, 1 to 5; default 1. Only version 1 has names and timestamps in events. */
  wireVersion?: number;
  /** Slots: a power of two from 2 to 16777216; default 4096. One slot always stays empty. */
  capacity?: number;
}

export interface WriteEvent {
  /** Event type number (wire versions 2 and up); default 0. */
  type?: number;
  /** Event name (wire version 1), truncated to 31 bytes of UTF-8. */
  name?: string;
  /** NIXL's category number, 0 to 7, stored by wire versions 1 and 2; default 7, CUSTOM. */
  category?: number;
  /** 0 to 2^64 - 1. */
  value: bigint | number;
  /** Microseconds since the Unix epoch (wire version 1); default: now. */
  timestampUs?: bigint;
}

/** Returns the options with their defaults. @throws NixlTelemetryError CONFIG_INVALID */
export function ringWriterOptions(options: RingWriterOptions, defaultWireVersion: number): Required<RingWriterOptions> {
  const given = optionsObject('options', options, ['wireVersion', 'capacity']);
  const { wireVersion = defaultWireVersion, capacity = 4096 } = given;
  wholeNumberArgument('capacity', capacity, 2, 2 ** 24);
  check(Number.isInteger(Math.log2(capacity)), 'capacity', capacity, 'powers of two from 2 to 16777216');
  return { wireVersion: wholeNumberArgument('wireVersion', wireVersion, 1, 5), capacity };
}

/**
 * Writes events into a ring as a NIXL agent does, for services without NIXL. The file name is the agent's name. The
 * writer reuses an existing file, and its unread events are lost. The file must be a regular file of this process's
 * user, not a link. A file has one writer: a second one is refused with RING_IN_USE, and a writer stops when another program
 * writes its ring, see `problem`. The agent ends with close(), or when the writer is garbage collected. If another process
 * truncates the file, the ring is lost: see `problem`. On a platform without rings the writer writes no file and drops all
 * events: see `problem`, too.
 */
export class RingWriter {
  readonly path: string;
  /** Undefined on a platform without rings. */
  readonly #handle: OpenHandle | undefined;
  readonly #unsupported: string | undefined;

  /** @throws NixlTelemetryError CONFIG_INVALID, RING_IN_USE, RING_WRITE_FAILED, ADDON_MISSING */
  constructor(path: string, options: RingWriterOptions = {}) {
    this.path = pathArgument('path', path);
    const { wireVersion, capacity } = ringWriterOptions(options, 1);
    let native;
    try {
      native = addon();
    } catch (error) {
      if (!isUnsupported(error)) throw error;
      this.#unsupported = error.message;
      return;
    }
    const opened = native.openWriter(path, wireVersion, capacity);
    if (opened.handle === undefined) {
      throw new NixlTelemetryError(opened.inUse ? 'RING_IN_USE' : 'RING_WRITE_FAILED', opened.reason, { path });
    }
    this.#handle = new OpenHandle(
      path,
      opened.handle,
      (writer) => addon().closeWriter(writer),
      `the writer of ${path}`,
    );
  }

  /** Returns false, and drops the event, if the ring is full or lost: see `problem`. */
  push(event: WriteEvent): boolean {
    check(isObject(event), 'event', event, 'an object with value, and type or name');
    const { type = 0, name = '', category = 7, value, timestampUs } = event;
    if (typeof name !== 'string') check(false, 'name', name, 'a text');
    const handle = this.#handle?.get();
    const typeNumber = wholeNumberArgument('type', type, 0, 2 ** 32 - 1);
    const categoryNumber = wholeNumberArgument('category', category, -(2 ** 31), 2 ** 31 - 1);
    const timeUs = timestampUs === undefined ? BigInt(Date.now()) * 1000n : u64('timestampUs', timestampUs);
    const reading = u64('value', value);
    return handle !== undefined && addon().push(handle, typeNumber, name, categoryNumber, timeUs, reading);
  }

  /** Unread events; 0 if the ring is lost. */
  get pending(): number {
    return this.#handle === undefined ? 0 : addon().pendingOf(this.#handle.get());
  }

  /** Reason why the ring accepts no further event; undefined while it accepts events. A new writer makes a new ring. */
  get problem(): string | undefined {
    switch (this.problemCode) {
      case 'PLATFORM_UNSUPPORTED':
        return this.#unsupported;
      case 'RING_WRITE_FAILED':
        return `${this.path} was truncated: the ring is lost`;
      case 'RING_OVERTAKEN':
        return `another program writes ${this.path}, so this writer has stopped: give each its own name or directory`;
      case undefined:
        return undefined;
    }
  }

  /** Code of `problem`. RING_OVERTAKEN: another program wrote into the ring. RING_WRITE_FAILED: the file was truncated. */
  get problemCode(): 'PLATFORM_UNSUPPORTED' | 'RING_OVERTAKEN' | 'RING_WRITE_FAILED' | undefined {
    if (this.#handle === undefined) return 'PLATFORM_UNSUPPORTED';
    const fault = addon().writerFault(this.#handle.get());
    return fault === '' ? undefined : fault === 'overtaken' ? 'RING_OVERTAKEN' : 'RING_WRITE_FAILED';
  }

  /** Closes the ring and keeps the file, as an agent does. */
  close(): void {
    this.#handle?.close();
  }
}
