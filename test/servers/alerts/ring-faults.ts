/** Rings with faults, written by this process as agents do. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { RingWriter } from '../../../src/rings.js';

const CAPACITY = 1024;
/** Offsets in the header of every ring. */
const WRITE_POS = 0;
const READ_POS = 8;
const VERSION = 16;

/** Opens the ring of an agent that lives until the end of the test: garbage collection of its writer would end it. */
export function openRing(directory: string, name: string, capacity = CAPACITY): RingWriter {
  const writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity });
  onTestFinished(() => writer.close());
  return writer;
}

/** Fills a share of the ring; with 1 until it refuses an event. */
export function fill(ring: RingWriter, share: number): void {
  for (let i = 0; i < share * CAPACITY && ring.push({ type: 0, value: 1 }); i++);
}

/** Takes an event as a foreign consumer does. */
export function takeEvent(ring: RingWriter): void {
  ring.push({ type: 0, value: 1 });
  const file = openSync(ring.path, 'r+');
  const position = Buffer.alloc(8);
  readSync(file, position, 0, 8, WRITE_POS);
  writeSync(file, position, 0, 8, READ_POS);
  closeSync(file);
}

/** Stores a position that no ring has. Returns the repair. */
export function damage(ring: RingWriter): () => void {
  const before = Buffer.alloc(8);
  const file = openSync(ring.path, 'r+');
  readSync(file, before, 0, 8, READ_POS);
  writeSync(file, Buffer.alloc(8, 0xff), 0, 8, READ_POS);
  return () => {
    writeSync(file, before, 0, 8, READ_POS);
    closeSync(file);
  };
}

/** Makes the ring one of a release that does not exist. */
export function makeUnknown(ring: RingWriter): void {
  const file = openSync(ring.path, 'r+');
  const version = Buffer.alloc(4);
  version.writeInt32LE(99);
  writeSync(file, version, 0, 4, VERSION);
  closeSync(file);
}
