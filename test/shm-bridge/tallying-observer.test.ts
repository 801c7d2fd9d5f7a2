import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Category, tallyOptions } from '../../src/mapping/index.js';
import { observeTally, RingWriter } from '../../src/shm-bridge/index.js';
import { drainAll, openTestSource, temporaryDirectory } from '../support/live.js';
import { eventsFor, WIRE_VERSIONS, writeRing } from '../support/rings.js';

/** Types that no table has, up to the largest one. */
const LIMITS = [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1];

describe('a tallying observer', () => {
  it.each(WIRE_VERSIONS)('has the totals of a source, wire version %d', (wireVersion) => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'agent');
    const events = eventsFor(wireVersion);
    writeRing(file, wireVersion, events, 30);
    const observer = observeTally(file, tallyOptions());
    expect(observer.observe(20)).toMatchObject({
      state: 'ready',
      found: 20,
      wireVersion,
      capacity: 64,
      pending: events.length,
    });
    expect(observer.observe().found + observer.observe().found).toBe(events.length - 20);

    const source = openTestSource([directory]);
    drainAll(source, directory);
    const [agent] = source.snapshot({ sizeClasses: true }).agents;
    const { memoryInUse, transfers, timeBySize } = agent!;
    expect(observer.tally()).toEqual({ memoryInUse, events: agent!.events, transfers, timeBySize });
    observer.close();
  });

  it.each(WIRE_VERSIONS)('keeps keys at the limits of their fields apart, wire version %d', (wireVersion) => {
    const file = path.join(temporaryDirectory(), 'agent');
    const [stored, given] = wireVersion <= 2 ? [[-(2 ** 31), -1, 2 ** 31 - 1], true] : [[Category.CUSTOM], false];
    const keys =
      wireVersion === 1 ? ['', 'x'.repeat(31), '\u{ff}'].map((name) => ({ name })) : LIMITS.map((type) => ({ type }));
    const events = stored.flatMap((category) => keys.map((key) => ({ ...key, category })));
    const writer = new RingWriter(file, { wireVersion, capacity: 64 });
    for (const event of events) {
      const { category, ...key } = event;
      writer.push({ ...key, ...(given ? { category } : {}), value: 7 });
    }
    writer.close();
    const observer = observeTally(file, tallyOptions());
    observer.observe();
    const seen = observer.tally().events.filter(({ count }) => count > 0);
    observer.close();
    expect(seen.map(({ type, name, category }) => ({ type, name, category }))).toEqual(
      events.map((event) => ({ type: undefined, name: undefined, ...event })),
    );
    expect(seen.every(({ count, sum, known, overflow }) => count === 1 && sum === 7n && !known && !overflow)).toBe(
      true,
    );
  });

  it('continues after a restart in the same file', () => {
    const file = path.join(temporaryDirectory(), 'agent');
    const write = (capacity: number, values: number[]): void => {
      const writer = new RingWriter(file, { wireVersion: 4, capacity });
      for (const value of values) writer.push({ type: 4, value });
      writer.close();
    };
    write(64, [100, 20]);
    const observer = observeTally(file, tallyOptions());
    expect(observer.observe()).toMatchObject({ found: 2, restarted: false });
    write(16, [7]);
    expect(observer.observe()).toMatchObject({ found: 1, restarted: true, lapped: false });
    // Memory in use restarts with the agent.
    expect(observer.tally()).toMatchObject({ memoryInUse: 7n });
    expect(observer.tally().events[4]).toMatchObject({ count: 3, sum: 127n, last: 7n });
    observer.close();
  });

  it('reports an unavailable ring and a wrong argument by name', () => {
    const missing = path.join(temporaryDirectory(), 'missing');
    expect(() => observeTally(missing, tallyOptions())).toThrow(`${missing} is absent`);
    const options = { ...tallyOptions(), durationBoundsUs: [5, 5] };
    expect(() => observeTally(missing, options)).toThrow('tally.durationBoundsUs[1] is 5; allowed: numbers above 5');
    const tooMany = { ...tallyOptions(), sizeBounds: Array.from({ length: 10_001 }, (_, i) => i + 1) };
    expect(() => observeTally(missing, tooMany)).toThrow(
      'the length of tally.sizeBounds is 10001; allowed: at most 10000',
    );
    const file = path.join(path.dirname(missing), 'agent');
    writeRing(file, 4, []);
    const observer = observeTally(file, tallyOptions());
    observer.close();
    observer.close();
    expect(() => observer.observe()).toThrow(`the ring ${file} is closed`);
  });
});
