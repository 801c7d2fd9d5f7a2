import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  observeRing,
  openRing,
  type RingEvent,
  type RingEventColumns,
  RingWriter,
} from '../../src/shm-bridge/index.js';
import { openTestSource, temporaryDirectory } from '../support/live.js';
import { WIRE_VERSIONS } from '../support/rings.js';

/** Converts columns to the events of drain(). */
function inRows({ length, kinds, kindOf, values, timestampsUs }: RingEventColumns): RingEvent[] {
  return Array.from({ length }, (_, i) => {
    const { timestamped, ...kind } = kinds[kindOf[i]!]!;
    return { ...kind, value: values[i]!, ...(timestamped ? { timestampUs: timestampsUs[i]! } : {}) };
  });
}

const VALUES = [0n, 1n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];

describe('one ring', () => {
  for (const wireVersion of WIRE_VERSIONS) {
    it(`returns the written events in order and exactly, wire version ${wireVersion}`, () => {
      const path = join(temporaryDirectory(), 'agent');
      const writer = new RingWriter(path, { wireVersion, capacity: 8 });
      const ring = openRing(path);
      const seen = observeRing(path);
      const columnsSeen = observeRing(path);
      // Three rounds of six in eight slots: the positions go round twice.
      for (let round = 0; round < 3; round++) {
        const events = VALUES.map((value, i) => {
          if (wireVersion === 1) return { timestampUs: BigInt(i), category: i, name: `name-${i}`, value };
          return wireVersion === 2 ? { category: i, type: i, value } : { type: i, value };
        });
        for (const event of events) expect(writer.push(event)).toBe(true);
        expect(seen.observe().events).toEqual(events);
        expect(inRows(columnsSeen.observeColumns().events)).toEqual(events);
        expect(inRows(ring.drainColumns(2))).toEqual(events.slice(0, 2));
        expect(ring.drain(2)).toEqual(events.slice(2, 4));
        expect(ring.drain()).toEqual(events.slice(4));
      }
      expect(ring.stats()).toMatchObject({ state: 'ready', wireVersion, capacity: 8, pending: 0, drained: 18n });
      ring.close();
      // Restored: version and expected_version are equal again.
      const header = readFileSync(path);
      expect([header.readInt32LE(16), header.readInt32LE(20)]).toEqual([wireVersion, wireVersion]);
      writer.close();
    });
  }

  it('refuses the newest event when it is full', () => {
    const writer = new RingWriter(join(temporaryDirectory(), 'agent'), { capacity: 4 });
    expect([1, 2, 3, 4].map((value) => writer.push({ name: 'n', value }))).toEqual([true, true, true, false]);
    expect(writer.pending).toBe(3);
  });

  it('is one ring when it is opened twice in one process', () => {
    const path = join(temporaryDirectory(), 'agent');
    const writer = new RingWriter(path, { wireVersion: 4 });
    const [one, other] = [openRing(path), openRing(path)];
    writer.push({ type: 0, value: 5 });
    expect([one.drain().length, other.drain().length]).toEqual([1, 0]);
    one.close();
    writer.push({ type: 0, value: 6 });
    expect(other.drain()).toEqual([{ type: 0, value: 6n }]);
    expect(() => one.drain()).toThrow(expect.objectContaining({ code: 'RING_CLOSED' }));
  });

  it('is busy for a second consumer, which drains nothing', async () => {
    const path = join(temporaryDirectory(), 'agent');
    const writer = new RingWriter(path, { wireVersion: 4 });
    const bridge = JSON.stringify(new URL('../../dist/shm-bridge/index.js', import.meta.url).href);
    const script = `
      const { openRing } = await import(${bridge});
      const ring = openRing(process.argv[1]);
      console.log('holds');
      process.stdin.once('data', () => { console.log(ring.drain().length); process.exit(0); });`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script, path]);
    onTestFinished(() => void holder.kill('SIGKILL'));
    let out = '';
    holder.stdout.on('data', (text: Buffer) => (out += text.toString()));
    await expect.poll(() => out).toBe('holds\n');
    for (let value = 0; value < 10; value++) writer.push({ type: 0, value });
    expect(() => openRing(path)).toThrow(/busy/);
    holder.stdin.write('drain\n');
    await expect.poll(() => out).toBe('holds\n10\n');
  });

  it('reports a truncation to observers, with the reason', () => {
    const path = join(temporaryDirectory(), 'agent');
    new RingWriter(path, { wireVersion: 4 }).close();
    const observer = observeRing(path);
    expect(observer.observe()).toMatchObject({ state: 'ready', reason: '' });
    truncateSync(path);
    for (const seen of [observer.observe(), observer.observeColumns()]) {
      expect(seen).toMatchObject({ state: 'initializing', reason: 'the file is empty', restarted: false });
    }
  });

  it('reports why a file is not a ring', async () => {
    const dir = temporaryDirectory();
    const at = (name: string) => join(dir, name);
    writeFileSync(at('empty'), '');
    writeFileSync(at('text'), 'not a ring, but long enough to hold the header of one');
    mkdirSync(at('folder'));
    symlinkSync(at('text'), at('link'));
    const future = Buffer.alloc(40 + 16 * 16);
    future.writeInt32LE(77, 16);
    writeFileSync(at('future'), future);
    const state = (name: string) => {
      try {
        openRing(at(name));
        return 'opened';
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(state('missing')).toMatch(/is absent/);
    expect(state('empty')).toMatch(/is initializing: the file is empty/);
    expect(state('text')).toMatch(/is corrupt: not a NIXL ring/);
    expect(state('future')).toMatch(/is incompatible: wire version 77/);
    expect(state('folder')).toMatch(/is corrupt: not a regular file but a directory/);
    expect(state('link')).toMatch(/is corrupt: not a regular file but a symbolic link/);
    const source = openTestSource([dir]);
    await expect.poll(() => source.snapshot().problemCount).toBe(4);
    expect(source.snapshot().agents).toEqual([]);
  });
});

describe('bad input', () => {
  it('is refused with the name, the value and the allowed values', () => {
    const path = join(temporaryDirectory(), 'agent');
    expect(() => new RingWriter(path, { capacity: 3 })).toThrow(
      'capacity is 3; allowed: powers of two from 2 to 16777216',
    );
    const last = WIRE_VERSIONS.at(-1)!;
    expect(() => new RingWriter(path, { wireVersion: last + 1 })).toThrow(
      `wireVersion is ${last + 1}; allowed: whole numbers from 1 to ${last}`,
    );
    expect(() => new RingWriter(join(path, 'x', 'y'))).toThrow(/cannot open .*No such file/);
    expect(() => openRing('')).toThrow(/path is ""; allowed: a path/);
    expect(() => new RingWriter(path).push({ value: -1 })).toThrow(/value is -1/);
  });
});
