import { expect, it } from 'vitest';
import { ENDED_KEPT_MS, EndWatch, type MortalAgent } from '../../../src/cli/verdict/end-watch.js';

const ALIVE: MortalAgent = {
  id: 1,
  name: 'agent-0',
  life: 'alive',
  requests: 10,
  memoryBytes: 4096,
  memoryApproximate: false,
};
const DEAD: MortalAgent = { ...ALIVE, requests: 12, life: 'dead' };

/** Returns a watch that has seen the agent transfer at 1000 and 2000 ms. */
function transferring(): EndWatch {
  const watch = new EndWatch();
  watch.observe(1000, [{ ...ALIVE, requests: 1 }]);
  expect(watch.observe(2000, [ALIVE])).toEqual([]);
  return watch;
}

it('finds an end during transfers, and keeps it for ten minutes, also when the agent is gone', () => {
  const watch = transferring();
  const end = { id: 1, name: 'agent-0', endedMs: 3000 };
  expect(watch.observe(3000, [DEAD])).toEqual([{ ...end, transferring: true }]);
  expect(watch.endedMs(1)).toBe(3000);
  expect(watch.ended).toEqual([end]);
  expect(watch.observe(4000, [DEAD])).toEqual([]);
  expect(watch.endedMs(1)).toBe(3000);
  watch.observe(3000 + ENDED_KEPT_MS - 1, []);
  expect(watch.ended).toEqual([end]);
  watch.observe(3000 + ENDED_KEPT_MS, []);
  expect(watch.ended).toEqual([]);
});

it('takes the last transfers from the sample before the end, too', () => {
  const watch = transferring();
  expect(watch.observe(3000, [{ ...DEAD, requests: ALIVE.requests }])).toMatchObject([{ transferring: true }]);
});

it.each([
  ['deregistered its memory', { memoryBytes: 0 }],
  ['has memory that is not known exactly', { memoryApproximate: true }],
])('takes an end as normal if the agent %s', (_, changes) => {
  const watch = transferring();
  expect(watch.observe(3000, [{ ...DEAD, ...changes }])).toMatchObject([{ transferring: false, endedMs: 3000 }]);
  expect(watch.ended).toEqual([]);
  expect(watch.endedMs(1)).toBe(3000);
});

it('takes an end as normal if no transfer finished in the last sample or since', () => {
  const watch = transferring();
  watch.observe(3000, [ALIVE]);
  expect(watch.observe(4000, [{ ...ALIVE, life: 'dead' }])).toMatchObject([{ transferring: false }]);
});

it('finds no end of an agent whose process was never seen', () => {
  const watch = new EndWatch();
  watch.observe(1000, [{ ...ALIVE, id: 1, life: 'unknown' }]);
  expect(
    watch.observe(2000, [
      { ...DEAD, id: 1 },
      { ...DEAD, id: 2 },
    ]),
  ).toEqual([]);
  expect(watch.endedMs(1)).toBeUndefined();
});

it('forgets an end when the agent starts again in its ring', () => {
  const watch = transferring();
  watch.observe(3000, [DEAD]);
  watch.observe(4000, [{ ...DEAD, life: 'alive' }]);
  expect(watch.ended).toEqual([]);
  expect(watch.endedMs(1)).toBeUndefined();
  watch.observe(5000, [{ ...ALIVE, requests: 20 }]);
  expect(watch.observe(6000, [{ ...DEAD, requests: 20 }])).toMatchObject([{ endedMs: 6000, transferring: true }]);
});

it('keeps the newest hundred ends', () => {
  const watch = new EndWatch();
  const many = (life: MortalAgent['life'], requests: number) =>
    Array.from({ length: 60 }, (_, id) => ({ ...ALIVE, id, life, requests }));
  watch.observe(1000, many('alive', 1));
  watch.observe(2000, many('dead', 2));
  watch.observe(3000, []);
  watch.observe(
    4000,
    many('alive', 1).map((agent) => ({ ...agent, id: agent.id + 100 })),
  );
  watch.observe(
    5000,
    many('dead', 2).map((agent) => ({ ...agent, id: agent.id + 100 })),
  );
  expect(watch.ended).toHaveLength(100);
  expect(watch.ended.filter(({ endedMs }) => endedMs === 5000)).toHaveLength(60);
});
