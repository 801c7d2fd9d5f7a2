/** Rings in a temporary directory, which a test writes in place of agents. */
import { intervalText } from '../ground/figures/clock.js';
import { plural } from '../ground/figures/figure.js';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { check, isText, wholeNumberArgument } from '../ground/arguments.js';
import { NixlTelemetryError, reasonOf } from '../ground/errors.js';
import { addon } from '../shm-bridge/addon.js';
import { inspectRing, RingWriter, type RingWriterOptions, ringWriterOptions } from '../shm-bridge/index.js';
import { slotsOf, type TestEvent } from './test-event.js';

export interface TestRingsOptions extends RingWriterOptions {
  /** Layout of the rings, 1 to 5; default 4. Only version 1 has names that NIXL does not have. */
  wireVersion?: number;
}

const PAUSE_MS = 5;

/** Parts of a name with slashes: a reader looks three folders deep (kMaxDepth of native/collector/discovery.h). */
const MOST_PARTS = 4;

/** Directories to remove at exit, if a test ended without close(). */
const left = new Set<string>();
const removeLeft = (): void => left.forEach(removeDirectory);

/**
 * Makes a temporary directory with rings for a test. Give `directory` to the reader under test, write events, wait until
 * they are counted, and close. Needs no agent and no NIXL.
 */
export class TestRings {
  /** Directory of the rings, for the option `directories` or for NIXL_TELEMETRY_DIR. */
  readonly directory: string;
  readonly #options: Required<RingWriterOptions>;
  readonly #writers = new Map<string, RingWriter>();

  /** @throws NixlTelemetryError CONFIG_INVALID */
  constructor(options: TestRingsOptions = {}) {
    this.#options = ringWriterOptions(options, 4);
    this.directory = mkdtempSync(path.join(tmpdir(), 'nixl-otel-testing-'));
    if (left.size === 0) process.on('exit', removeLeft);
    left.add(this.directory);
  }

  /**
   * Writes events as the agent of this name, whose ring is created at the first call.
   * @throws NixlTelemetryError CONFIG_INVALID before it writes anything; RING_WRITE_FAILED if the ring is full, or cannot
   * be written; RING_CLOSED; PLATFORM_UNSUPPORTED; ADDON_MISSING
   */
  write(agent: string, ...events: readonly TestEvent[]): void {
    const slots = events.flatMap((event, i) => slotsOf(`events[${i}]`, event, this.#options.wireVersion));
    const writer = this.#writerOf(agent);
    for (const slot of slots) {
      if (writer.push(slot)) continue;
      const reason = writer.problem ?? `the ring of ${agent} is full: await counted() earlier, or give more capacity`;
      throw new NixlTelemetryError('RING_WRITE_FAILED', reason, { path: writer.path });
    }
  }

  /**
   * Resolves when a reader has taken all events out of the rings: its next collect or scrape reports them.
   * @throws NixlTelemetryError RING_NOT_DRAINED after `limitMs`, with the reason
   */
  async counted(limitMs = 10_000): Promise<void> {
    wholeNumberArgument('limitMs', limitMs, 0, 2 ** 31 - 1);
    const beganMs = performance.now();
    for (const [agent, writer] of this.#writers) {
      while (writer.pending > 0 || writer.problem !== undefined) {
        if (writer.problem !== undefined || performance.now() - beganMs > limitMs)
          throw notDrained(agent, writer, limitMs, this.directory);
        await setTimeout(PAUSE_MS);
      }
    }
  }

  /** Closes the rings and removes the directory. */
  close(): void {
    for (const writer of this.#writers.values()) writer.close();
    removeDirectory(this.directory);
    left.delete(this.directory);
    if (left.size === 0) process.off('exit', removeLeft);
  }

  #writerOf(agent: string): RingWriter {
    const parts = isText(agent) ? agent.split('/') : [''];
    const isName = parts.length <= MOST_PARTS && parts.every((part) => !['', '.', '..'].includes(part));
    check(isName, 'the name of the agent', agent, `up to ${MOST_PARTS} file names, as in folder/name`);
    const opened = this.#writers.get(agent);
    if (opened !== undefined) return opened;
    if (!left.has(this.directory)) throw new NixlTelemetryError('RING_CLOSED', `${this.directory} is closed`);
    const file = path.join(this.directory, agent);
    addon(); // throws where there are no rings: RingWriter drops events there
    makeDirectory(path.dirname(file));
    const writer = new RingWriter(file, this.#options);
    this.#writers.set(agent, writer);
    return writer;
  }
}

function notDrained(agent: string, writer: RingWriter, limitMs: number, directory: string): NixlTelemetryError {
  const { path: file, pending } = writer;
  const { state, reason, consumed = false } = inspectRing(file);
  const cause =
    state !== 'ready' ? `it is ${state}: ${reason}` : consumed ? 'its reader is late' : 'no reader drains it';
  const message = `the ring of ${agent} still has ${plural(pending, 'event')} after ${intervalText(limitMs)}: ${cause}`;
  const remedy = `give ${directory} to a reader before counted()`;
  return new NixlTelemetryError('RING_NOT_DRAINED', consumed ? message : `${message}; ${remedy}`, {
    path: file,
    state,
  });
}

/** @throws NixlTelemetryError RING_WRITE_FAILED, such as for the agent a/b where a is an agent */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (cause) {
    throw new NixlTelemetryError('RING_WRITE_FAILED', reasonOf(cause), { path: directory, cause });
  }
}

function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
