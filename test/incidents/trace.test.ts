import { expect, it } from 'vitest';
import { replay, type TraceLine } from './harness/replay.js';
import { looped, slowed, STEADY_MS } from './harness/trace.js';

/** Three hours. */
const LOOPS = 100;
const LEARNING_LOOPS = 24;

const alarmsOf = (lines: Iterable<TraceLine>) => [...replay(lines)].filter(({ level }) => level === 'alarm');

it('raises no alarm over hours of a real engine', () => {
  expect(alarmsOf(looped(LOOPS))).toEqual([]);
});

it.each([5, 10, 40])(
  'finds in half a minute that transfers of one size of a real engine take %i times as long',
  (factor) => {
    const slowMs = LEARNING_LOOPS * STEADY_MS;
    const alarms = alarmsOf(slowed(looped(LEARNING_LOOPS + 5, STEADY_MS), factor, slowMs));
    expect(alarms).toMatchObject([{ kind: 'slow-transfers', agents: ['decode'] }]);
    expect(alarms[0]!.saidMs - slowMs).toBeGreaterThan(0);
    expect(alarms[0]!.saidMs - slowMs).toBeLessThanOrEqual(30_000);
  },
);
