import { describe, expect, it } from 'vitest';
import type { AgentModel } from '../../../src/view/model/agent-model.js';
import { ENDED_KEPT_MS, EndWatch, MOST_ENDED } from '../../../src/view/verdict/end-watch.js';
import { agentModel } from '../../support/agent-models.js';

const ABOUT = { txRequests: 10, memoryBytes: 4096, memoryApproximate: false };
const ALIVE: AgentModel<number> = { ...agentModel('agent-0', ABOUT), id: 1 };
const DEAD: AgentModel<number> = { ...ALIVE, txRequests: 12, life: 'dead' };
const MINUTE_MS = 60_000;

/** Returns a watch that has seen the agent transfer at 1000 and 2000 ms. */
function transferring(): EndWatch {
  const watch = new EndWatch();
  watch.observe(1000, [{ ...ALIVE, txRequests: 1 }]);
  expect(watch.observe(2000, [ALIVE])).toEqual([]);
  return watch;
}

it('finds an end, and keeps it for an hour, also when the agent is gone', () => {
  const watch = transferring();
  const end = { id: 1, name: 'agent-0', endedMs: 3000, transferring: true, movedMs: 3000, memoryBytes: 4096 };
  expect(watch.observe(3000, [DEAD])).toEqual([{ ...end, endsOfPlace: 1 }]);
  expect(watch.endedMs(1)).toBe(3000);
  expect(watch.ended).toEqual([{ ...end, endsOfPlace: 1 }]);
  expect(watch.observe(4000, [DEAD])).toEqual([]);
  expect(watch.endedMs(1)).toBe(3000);
  watch.observe(3000 + ENDED_KEPT_MS - 1, []);
  expect(watch.ended).toMatchObject([end]);
  expect(watch.endedMs(1)).toBe(3000);
  watch.observe(3000 + ENDED_KEPT_MS, []);
  expect(watch.ended).toEqual([]);
  expect(watch.endedMs(1)).toBeUndefined();
});

describe('what was seen of an end', () => {
  it('has no memory that the agent deregistered, or that is not known exactly', () => {
    for (const changes of [{ memoryBytes: 0 }, { memoryApproximate: true }]) {
      const [end] = transferring().observe(3000, [{ ...DEAD, ...changes }]);
      expect(end).toMatchObject({ transferring: true });
      expect(end).not.toHaveProperty('memoryBytes');
    }
  });

  it('has the time of the last transfer, which may be long ago or unknown', () => {
    const watch = transferring();
    watch.observe(2000 + MINUTE_MS, [ALIVE]);
    const dead = { ...ALIVE, life: 'dead' } as const;
    expect(watch.observe(2001 + MINUTE_MS, [dead])).toMatchObject([{ transferring: false, movedMs: 2000 }]);
    expect(transferring().observe(2000 + MINUTE_MS, [dead])).toMatchObject([{ transferring: true, movedMs: 2000 }]);
    const idle = new EndWatch();
    idle.observe(1000, [ALIVE]);
    expect(idle.observe(2000, [dead])[0]).not.toHaveProperty('movedMs');
  });

  it('takes two flushes of an agent that flushes rarely', () => {
    const rare = { ...ALIVE, flushIntervalMs: MINUTE_MS };
    const watch = new EndWatch();
    watch.observe(1000, [{ ...rare, txRequests: 1 }]);
    watch.observe(2000, [rare]);
    watch.observe(2000 + 2 * MINUTE_MS, [{ ...rare, life: 'dead' }]);
    expect(watch.ended).toMatchObject([{ transferring: true }]);
  });

  it('has failed operations of its last minute', () => {
    const watch = new EndWatch();
    const failed = (count: number) => ({ ...ALIVE, errors: [count, 1] });
    watch.observe(1000, [failed(4)]);
    watch.observe(2000, [failed(5)]);
    watch.observe(3000 + MINUTE_MS, [failed(7)]);
    watch.observe(4000 + MINUTE_MS, [failed(9)]);
    watch.observe(5000 + MINUTE_MS, [{ ...failed(10), life: 'dead' }]);
    expect(watch.ended).toMatchObject([{ errors: 5, errorsSinceMs: 3000 + MINUTE_MS }]);
    const later = new EndWatch();
    later.observe(1000, [failed(4)]);
    later.observe(2000, [failed(5)]);
    later.observe(2001 + MINUTE_MS, [{ ...failed(5), life: 'dead' }]);
    expect(later.ended[0]).not.toHaveProperty('errors');
  });
});

it('finds no end of an agent whose process was never seen, nor of one that had ended before', () => {
  const watch = new EndWatch();
  watch.observe(1000, [
    { ...ALIVE, id: 1, life: 'unknown' },
    { ...DEAD, id: 3 },
  ]);
  const ends = watch.observe(2000, [
    { ...DEAD, id: 1 },
    { ...DEAD, id: 2, startTimeMs: 500 },
    { ...DEAD, id: 3 },
  ]);
  expect(ends).toEqual([]);
  expect(watch.endedMs(1)).toBeUndefined();
});

it('finds the end of an agent that lived between two samples', () => {
  const watch = new EndWatch();
  watch.observe(1000, []);
  watch.observe(6000, [{ ...DEAD, startTimeMs: 2000 }]);
  expect(watch.ended).toMatchObject([{ endedMs: 6000, transferring: true }]);
});

it('takes an agent that is missing as ended only if it is told so', () => {
  const told = new EndWatch(ENDED_KEPT_MS, true);
  const other = new EndWatch();
  for (const watch of [told, other]) {
    watch.observe(1000, [ALIVE, { ...ALIVE, id: 2, life: 'unknown' }]);
    watch.observe(2000, []);
  }
  expect(told.ended).toMatchObject([{ id: 1, endedMs: 2000 }]);
  expect(other.ended).toEqual([]);
});

describe('a successor', () => {
  const named = (name: string, id: number, about: Partial<AgentModel<string>> = {}): AgentModel<number> => {
    return { ...agentModel(name, { directory: '/d', ...about }), id };
  };
  const dead = { life: 'dead' } as const;

  it('is the agent that starts again in its ring, seen dead in between or not', () => {
    const watch = transferring();
    watch.observe(3000, [DEAD]);
    watch.observe(4000, [{ ...DEAD, life: 'alive', restarts: 1 }]);
    expect(watch.ended).toMatchObject([{ successor: { name: 'agent-0', sinceMs: 4000 }, endsOfPlace: 1 }]);
    expect(watch.endedMs(1)).toBeUndefined();
    watch.observe(5000, [{ ...ALIVE, restarts: 2 }]);
    expect(watch.ended).toMatchObject([
      { endedMs: 5000, successor: { sinceMs: 5000 }, endsOfPlace: 2 },
      { endedMs: 3000, successor: { sinceMs: 4000, endedMs: 5000 } },
    ]);
    expect(watch.endedMs(1)).toBeUndefined();
  });

  it('is no restart that may be a second writer of the ring', () => {
    const watch = transferring();
    watch.observe(3000, [{ ...ALIVE, restarts: 1, suspect: true }]);
    expect(watch.ended).toEqual([]);
  });

  it.each([
    ['decode-tp3', 'decode-tp11', true],
    ['gpu7_4711_0', 'gpu7_4990_0', true],
    ['0f1e2d3c-0000-4a00-8b00-00000000abcd', '5e6f7a8b-1111-4b11-9c11-11111111dcba', true],
    ['prefill-0', 'decode-0', false, 'decode-1'],
    ['prefill-0', 'decode-0', true],
  ])('of %s is %s: %s, beside %s', (before, after, isOne, beside?: string) => {
    const watch = new EndWatch();
    const others = beside === undefined ? [] : [named(beside, 3)];
    watch.observe(1000, [named(before, 1), ...others]);
    watch.observe(2000, [named(before, 1, dead), ...others]);
    watch.observe(9000, [named(before, 1, dead), ...others, named(after, 2)]);
    expect(watch.ended[0]!.successor).toEqual(isOne ? { name: after, sinceMs: 9000 } : undefined);
  });

  it('ends a loop only after a short life', () => {
    const watch = new EndWatch();
    watch.observe(0, []);
    for (let life = 1; life <= 4; life++) {
      const beganMs = 1000 + 130_000 * life;
      watch.observe(beganMs, [named('a1', life)]);
      watch.observe(beganMs + 125_000, [named('a1', life, dead)]);
    }
    expect(watch.ended.map(({ endsOfPlace }) => endsOfPlace)).toEqual([0, 0, 0, 0]);
  });

  it('comes in the same directory, and in the place of one agent only, of its own name if it can', () => {
    const watch = new EndWatch();
    const ranks = [0, 1, 2].map((rank) => named(`tp${rank}`, rank));
    watch.observe(1000, ranks);
    watch.observe(
      2000,
      ranks.map((rank) => ({ ...rank, ...dead })),
    );
    watch.observe(3000, [named('tp1', 7), named('tp0', 8, { directory: '/e' })]);
    const successors = Object.fromEntries(watch.ended.map(({ name, successor }) => [name, successor?.name]));
    expect(successors).toEqual({ tp0: undefined, tp1: 'tp1', tp2: undefined });
  });

  it('may come before the end, but not with the ended one', () => {
    const watch = new EndWatch();
    watch.observe(0, []);
    const old = named('a1', 1);
    watch.observe(1000, [old, named('a2', 2)]);
    watch.observe(2000, [{ ...old, ...dead }, named('a2', 2)]);
    expect(watch.ended[0]).not.toHaveProperty('successor');
    const next = named('a3', 3);
    watch.observe(10 * MINUTE_MS, [named('a2', 2), next]);
    expect(watch.ended[0]!.successor!.name).toBe('a3');
    const last = named('a4', 4);
    watch.observe(20 * MINUTE_MS, [named('a2', 2), next, last]);
    watch.observe(22 * MINUTE_MS, [{ ...named('a2', 2), ...dead }, next, last]);
    expect(watch.ended[0]).toMatchObject({ name: 'a2', successor: { name: 'a4', sinceMs: 20 * MINUTE_MS } });
  });

  it('of a successor counts the ends of a place', () => {
    const watch = new EndWatch();
    watch.observe(0, []);
    for (let life = 1; life <= 4; life++) {
      watch.observe(life * MINUTE_MS, [named(`a-${life}`, life)]);
      watch.observe(life * MINUTE_MS + 5000, [named(`a-${life}`, life, dead)]);
    }
    expect(watch.ended.map(({ endsOfPlace }) => endsOfPlace)).toEqual([4, 3, 2, 1]);
    expect(watch.ended.map(({ successor }) => successor?.endedMs !== undefined)).toEqual([false, true, true, true]);
    watch.observe(12 * MINUTE_MS, [named('a-5', 5)]);
    watch.observe(13 * MINUTE_MS, [named('a-5', 5, dead)]);
    // Those of the last ten minutes.
    expect(watch.ended[0]!.endsOfPlace).toBe(3);
  });
});

it('keeps the newest thousand ends', () => {
  const watch = new EndWatch();
  const many = (life: AgentModel['life'], first: number) =>
    Array.from({ length: 600 }, (_, i) => ({ ...ALIVE, id: first + i, life }));
  watch.observe(1000, many('alive', 0));
  watch.observe(2000, many('dead', 0));
  watch.observe(3000, []);
  watch.observe(4000, many('alive', 1000));
  watch.observe(5000, many('dead', 1000));
  expect(watch.ended).toHaveLength(MOST_ENDED);
  expect(watch.ended.filter(({ endedMs }) => endedMs === 5000)).toHaveLength(600);
  expect(watch.endedMs(0)).toBeUndefined();
});
