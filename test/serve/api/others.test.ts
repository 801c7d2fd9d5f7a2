/** The entry that sums up the agents that an answer does not list. */
import { expect, it } from 'vitest';
import type { ServedAgent } from '../../../src/view/model/agent-model.js';
import { fold } from '../../../src/serve/api/others.js';

const agent = (id: number, fill: number, sinceMs: number) =>
  ({
    ...{ id, agent: `a${id}`, directory: '/d', name: `a${id}`, life: 'alive', startTimeMs: 1, idleMs: 10 * id },
    ...{
      txBytes: id,
      capacity: id === 2 ? undefined : 64,
      errors: [id],
      suspect: id === 3,
      fill,
      ...(id === 2 ? {} : { writers: [7, 8] }),
    },
    troubles: { full: { count: 1, sinceMs, lastMs: sinceMs + id, lastMinute: id } },
  }) as unknown as ServedAgent;

// One of the capacities is unknown.
it.each([
  [2, 3],
  [3, 2],
])('has the sums, the highest fill, and the first and last time of each trouble, in any order', (one, other) => {
  const times = { 2: agent(2, 0.75, 100), 3: agent(3, 0.5, 200) };
  const { agents, folded } = fold([agent(1, 0, 5), ...[one, other].map((id) => times[id as 2 | 3])], 1);
  expect([folded, agents.length, agents[0]!.id]).toEqual([2, 2, 1]);
  expect(agents[1]).toMatchObject({
    ...{
      id: -1,
      name: '2 others',
      life: 'alive',
      idleMs: 20,
      txBytes: 5,
      capacity: 64,
      errors: [5],
      suspect: true,
      fill: 0.75,
    },
    troubles: { full: { count: 2, sinceMs: 100, lastMs: 203, lastMinute: 5 } },
  });
  expect(agents[1]).not.toHaveProperty('writers'); // pids have no sum
});
