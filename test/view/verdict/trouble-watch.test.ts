import { expect, it } from 'vitest';
import { type TroubleCounts, TroubleWatch } from '../../../src/view/verdict/trouble-watch.js';
import type { Troubles } from '../../../src/view/model/agent-model.js';

const BEGAN_MS = 1_000_000;

/** Observes one agent at seconds after the begin. */
function watching(watch: TroubleWatch, startTimeMs?: number) {
  return (seconds: number, counts: TroubleCounts): Troubles => {
    const agent = { id: 1, counts, ...(startTimeMs === undefined ? {} : { startTimeMs }) };
    return watch.observe(BEGAN_MS + seconds * 1000, [agent]).get(1)!;
  };
}

it('takes the counts of the first sample as old, unless the agent began later than the watch', () => {
  const earlier = watching(new TroubleWatch([]), BEGAN_MS - 1);
  expect(earlier(0, { full: 3 })).toEqual({});
  const unknown = watching(new TroubleWatch([]));
  expect(unknown(0, { full: 3 })).toEqual({});
  const later = watching(new TroubleWatch([], BEGAN_MS - 10), BEGAN_MS - 5);
  expect(later(0, { full: 3 }).full).toEqual({ count: 3, sinceMs: BEGAN_MS, lastMs: BEGAN_MS, lastMinute: 3 });
});

it('keeps a trouble until a minute after its last occurrence, and begins anew after that', () => {
  const observe = watching(new TroubleWatch([]));
  observe(0, { full: 5 });
  expect(observe(10, { full: 7 }).full).toMatchObject({ count: 2, sinceMs: BEGAN_MS + 10_000 });
  expect(observe(65, { full: 8 }).full).toEqual({
    count: 3,
    sinceMs: BEGAN_MS + 10_000,
    lastMs: BEGAN_MS + 65_000,
    lastMinute: 3,
  });
  expect(observe(71, { full: 8 }).full).toMatchObject({ count: 3, lastMinute: 1 });
  expect(observe(124.9, { full: 8 }).full).toMatchObject({ count: 3 });
  expect(observe(125, { full: 8 })).toEqual({});
  expect(observe(200, { full: 9 }).full).toMatchObject({ count: 1, sinceMs: BEGAN_MS + 200_000 });
});

it('begins anew at an occurrence after a minute in which no sample was taken', () => {
  const observe = watching(new TroubleWatch([]));
  observe(0, { full: 0 });
  observe(1, { full: 1 });
  expect(observe(100, { full: 2 }).full).toMatchObject({ count: 1, sinceMs: BEGAN_MS + 100_000 });
});

it('counts errors by status, the most frequent one first', () => {
  const observe = watching(new TroubleWatch(['backend', 'canceled']));
  observe(0, { errors: [1, 0] });
  observe(1, { errors: [2, 3] });
  expect(observe(2, { errors: [2, 4] }).errors).toMatchObject({
    count: 5,
    lastMinute: 5,
    statuses: [
      ['canceled', 4],
      ['backend', 1],
    ],
  });
});

it('distinguishes kinds', () => {
  const observe = watching(new TroubleWatch([]));
  observe(0, {});
  const all = { full: 1, dropped: 2, foreign: 3, unfollowed: 1, undrained: 4, lapped: 5 };
  const found = Object.entries(observe(1, all)).map(([kind, trouble]) => [kind, (trouble as { count: number }).count]);
  expect(Object.fromEntries(found)).toEqual(all);
});

it('counts from the lower value after counts fell', () => {
  const observe = watching(new TroubleWatch([]));
  observe(0, { full: 9 });
  expect(observe(1, { full: 2 })).toEqual({});
  expect(observe(2, { full: 3 }).full).toMatchObject({ count: 1 });
});

it('forgets all when the clock was set back, and agents that are gone', () => {
  const watch = new TroubleWatch([]);
  const observe = watching(watch);
  observe(10, {});
  expect(observe(11, { full: 1 }).full).toBeDefined();
  expect(observe(5, { full: 2 })).toEqual({});
  expect(observe(6, { full: 3 }).full).toBeDefined();
  expect([...watch.observe(BEGAN_MS + 7000, [])]).toEqual([]);
  expect(observe(8, { full: 9 })).toEqual({});
});
