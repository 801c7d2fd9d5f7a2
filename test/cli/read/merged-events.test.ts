/** Order of the events of several rings, from readings that give out what a test puts into them. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventFilter } from '../../../src/cli/read/event-filter.js';
import { EventWriter } from '../../../src/cli/read/event-writer.js';
import { type MergeOptions, MergedEvents } from '../../../src/cli/read/merged-events.js';
import type { Reading } from '../../../src/cli/read/opened-ring.js';
import type { RingEventColumns } from '../../../src/shm-bridge/types.js';

/** Events of a ring with times of wire version 1; without times if `timed` is false. The values are the times. */
function columns(timesUs: readonly bigint[], timed = true): RingEventColumns {
  return {
    length: timesUs.length,
    kinds: [timed ? { name: 'x', category: 5, timestamped: true } : { type: 6, timestamped: false }],
    kindOf: new Uint32Array(timesUs.length),
    values: BigUint64Array.from(timesUs),
    timestampsUs: BigUint64Array.from(timesUs, (us) => (timed ? us : 0n)),
  };
}

/** A ring whose takes give these events, one entry each. */
class FakeRing implements Reading {
  readonly exitCode = 0;
  readonly agent: string;
  readonly takes: (RingEventColumns | undefined)[];
  asked: number[] = [];

  constructor(agent: string, ...takes: (RingEventColumns | undefined)[]) {
    this.agent = agent;
    this.takes = takes;
  }

  take(most: number): RingEventColumns | undefined {
    this.asked.push(most);
    return this.takes.length > 0 ? this.takes.shift() : columns([]);
  }

  close(): void {}
}

function merged(rings: readonly FakeRing[], options: Partial<MergeOptions> = {}) {
  const writer = new EventWriter({ format: 'line', utc: true }, eventFilter({}));
  const events = new MergedEvents(rings, writer, { most: Infinity, follows: false, consumes: false, ...options });
  /** Takes once and writes what can be written. Returns agents and values. */
  const round = (isLast = false): string[] => {
    if (!isLast) events.take();
    while (events.write(isLast)) continue;
    const lines = Buffer.from(writer.take()).toString().split('\n').filter(Boolean);
    return lines.map((line) => line.replace(/^\S+( \S+Z)? (\S+) .* (\d+)$/, '$2 $3'));
  };
  return { events, round };
}

describe('events of several rings', () => {
  it('come in the order of their times, from batches of any size, and those of a ring keep their order', () => {
    const times = fc.array(fc.bigInt({ min: 1n, max: 50n }), { maxLength: 30 });
    const ring = fc.tuple(times, fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 8 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(ring, { minLength: 1, maxLength: 5 }), (rings) => {
        const given = rings.map(([all, sizes, isSorted], i) => {
          const sorted = isSorted ? all.toSorted((a, b) => Number(a - b)) : all;
          const takes: RingEventColumns[] = [];
          let at = 0;
          for (const size of sizes) takes.push(columns(sorted.slice(at, (at += size))));
          takes.push(columns(sorted.slice(at)));
          return {
            agent: `r${i}`,
            sorted,
            isSorted,
            ring: new FakeRing(`r${i}`, ...takes.filter((one) => one.length)),
          };
        });
        const { events, round } = merged(given.map((one) => one.ring));
        const lines: string[] = [];
        while (!events.isAtEnd) lines.push(...round());
        for (const { agent, sorted } of given) {
          const own = lines.filter((line) => line.startsWith(`${agent} `));
          expect(own).toEqual(sorted.map((us) => `${agent} ${us}`));
        }
        if (given.every(({ isSorted }) => isSorted)) {
          const order = lines.map((line) => Number(line.split(' ')[1]));
          expect(order).toEqual(order.toSorted((a, b) => a - b));
        }
        expect(events.printed).toBe(events.seen);
      }),
    );
  });

  it('without times come first, ring by ring', () => {
    const rings = [new FakeRing('a', columns([5n])), new FakeRing('b', columns([7n, 8n], false))];
    const { events, round } = merged(rings);
    const lines: string[] = [];
    while (!events.isAtEnd) lines.push(...round());
    expect(lines).toEqual(['b 7', 'b 8', 'a 5']);
  });

  it('are no more than asked for, and a consumer takes no more out of the rings', () => {
    const make = () => [new FakeRing('a', columns([1n, 3n])), new FakeRing('b', columns([2n, 4n]))];
    expect(merged(make(), { most: 3 }).round()).toEqual(['a 1', 'b 2', 'a 3']);
    const rings = make();
    const { events, round } = merged(rings, { most: 2, consumes: true });
    expect(round()).toEqual(['a 1', 'a 3']);
    expect(events.isComplete).toBe(true);
    expect([rings[0]!.asked, rings[1]!.asked]).toEqual([[2], []]);
  });
});

describe('followed events', () => {
  const START_MS = Date.UTC(2026, 10, 23);
  const atMs = (ms: number): bigint => BigInt(START_MS + ms) * 1000n;
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: START_MS }));
  afterEach(() => void vi.useRealTimers());

  const now = (ms: number): void => void vi.setSystemTime(START_MS + ms);

  it('wait for earlier ones of other rings, and one that comes too late is printed late', () => {
    const [a, b] = [new FakeRing('a'), new FakeRing('b')];
    const { round } = merged([a, b], { follows: true });
    a.takes.push(columns([atMs(-20)]));
    expect(round()).toEqual([]);
    now(100);
    b.takes.push(columns([atMs(-30), atMs(90)]));
    expect(round()).toEqual([]);
    now(229);
    expect(round()).toEqual([`b ${atMs(-30)}`]);
    now(230);
    expect(round()).toEqual([`a ${atMs(-20)}`]);
    now(300);
    a.takes.push(columns([atMs(-25)]));
    expect(round()).toEqual([`a ${atMs(-25)}`]);
    expect(round(true)).toEqual([`b ${atMs(90)}`]);
  });

  it('are all printed at the end', () => {
    const rings = [new FakeRing('a', columns([atMs(-1), atMs(0)])), new FakeRing('b', columns([atMs(-2)]))];
    const { events, round } = merged(rings, { follows: true });
    expect(round()).toEqual([]);
    expect(round(true)).toEqual([`b ${atMs(-2)}`, `a ${atMs(-1)}`, `a ${atMs(0)}`]);
    expect(events.printed).toBe(3);
  });

  it('with a time in the future hold up no others', () => {
    const year = atMs(365 * 86_400_000);
    const [a, b] = [new FakeRing('a', columns([year, atMs(-5)])), new FakeRing('b', columns([atMs(-10)]))];
    const { round } = merged([a, b], { follows: true });
    round();
    now(250);
    const lines = round();
    expect(lines).toEqual([`b ${atMs(-10)}`, `a ${year}`, `a ${atMs(-5)}`]);
  });

  it('do not wait if there is one ring, or if no agent writes times', () => {
    expect(merged([new FakeRing('a', columns([atMs(0)]))], { follows: true }).round()).toEqual([`a ${atMs(0)}`]);
    const rings = [new FakeRing('a', columns([1n], false)), new FakeRing('b', columns([2n], false))];
    const { round } = merged(rings, { follows: true });
    expect([...round(), ...round()]).toEqual(['a 1', 'b 2']);
  });

  it('are not held in memory without bound', () => {
    const batch = (i: number) => columns(Array.from({ length: 16_384 }, (_, n) => atMs(-100) + BigInt(i * 16_384 + n)));
    const rings = [new FakeRing('a', ...[0, 1, 2, 3, 4].map(batch)), new FakeRing('b')];
    const { events, round } = merged(rings, { follows: true });
    for (let i = 0; i < 3; i++) expect(round()).toEqual([]);
    expect(round().length + round().length).toBeGreaterThan(16_384);
    expect(events.seen - events.printed).toBeLessThanOrEqual(4 * 16_384);
  });

  it('have the time of their arrival if their agent writes none, unless they were there before', () => {
    const [a, b] = [new FakeRing('a', columns([7n], false)), new FakeRing('b')];
    const writer = new EventWriter({ format: 'json' }, eventFilter({}));
    const events = new MergedEvents([a, b], writer, { most: Infinity, follows: true, consumes: false });
    const round = (): unknown[] => {
      events.take();
      while (events.write()) continue;
      const lines = Buffer.from(writer.take()).toString().split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line) as unknown);
    };
    const fields = { category: 'PERFORMANCE', event: 'agent_xfer_time' };
    expect(round()).toEqual([{ agent: 'a', ...fields, value: 7 }]);
    now(1_500);
    a.takes.push(columns([8n], false));
    b.takes.push(columns([9n], false));
    const arrived = '2026-11-23T00:00:01.500000Z';
    expect([...round(), ...round()]).toEqual([
      { agent: 'a', arrived, ...fields, value: 8 },
      { agent: 'b', arrived, ...fields, value: 9 },
    ]);
  });
});
