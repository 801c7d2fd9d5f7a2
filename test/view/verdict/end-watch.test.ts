import { expect, it } from 'vitest';
import type { AgentModel } from '../../../src/view/model/agent-model.js';
import { ENDED_KEPT_MS, EndWatch } from '../../../src/view/verdict/end-watch.js';
import { agentModel } from '../../support/agent-models.js';

const ABOUT = { txRequests: 10, memoryBytes: 4096, memoryApproximate: false };
const ALIVE: AgentModel<number> = { ...agentModel('agent-0', ABOUT), id: 1 };
const DEAD: AgentModel<number> = { ...ALIVE, txRequests: 12, life: 'dead' };

/** Returns a watch that has seen the agent transfer at 1000 and 2000 ms. */
function transferring(): EndWatch {
  const watch = new EndWatch();
  watch.observe(1000, [{ ...ALIVE, txRequests: 1 }]);
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
  expect(watch.observe(3000, [{ ...DEAD, txRequests: ALIVE.txRequests }])).toMatchObject([{ transferring: true }]);
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
  watch.observe(5000, [{ ...ALIVE, txRequests: 20 }]);
  expect(watch.observe(6000, [{ ...DEAD, txRequests: 20 }])).toMatchObject([{ endedMs: 6000, transferring: true }]);
});

it('keeps the newest hundred ends', () => {
  const watch = new EndWatch();
  const many = (life: AgentModel['life'], txRequests: number) =>
    Array.from({ length: 60 }, (_, id) => ({ ...ALIVE, id, life, txRequests }));
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
