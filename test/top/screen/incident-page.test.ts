import { expect, it } from 'vitest';
import type { TopIncidents } from '../../../src/top/incidents.js';
import { INITIAL, type UiState } from '../../../src/top/screen/keys.js';
import type { Incident } from '../../../src/view/incidents/incident.js';
import { sample, totals, viewsOf } from '../samples.js';
import { AT, framed, sceneAfter } from './scenes.js';

const MINUTE_MS = 60_000;
const VIEWS = viewsOf(sample(AT, [totals('tp0')]), sample(AT + 1000, [totals('tp0')]));

function incident(about: Partial<Incident>): Incident {
  return {
    ...{ kind: 'failing', level: 'alarm', word: 'Transfers fail', sentence: 'tp0: 8 errors/s, all canceled' },
    ...{ agents: ['tp0'], agentCount: 1, beginMs: AT - 20 * MINUTE_MS, saidMs: AT - 20 * MINUTE_MS },
    ...about,
  };
}

const ALL: TopIncidents = {
  listed: [
    { incident: incident({ saidMs: AT - MINUTE_MS, beginMs: AT - MINUTE_MS }), takenMs: AT },
    {
      incident: incident({
        ...{ kind: 'slow-transfers', sentence: 'time grows with the bytes', agents: ['a', 'b', 'c'], agentCount: 3 },
        ...{ endMs: AT - 3 * MINUTE_MS, peak: { value: 12, text: '12 times slower' } },
      }),
      takenMs: AT,
    },
    {
      incident: incident({ kind: 'ended', level: 'note', sentence: 'tp9 ended', agents: ['tp9'], endMs: AT }),
      takenMs: AT,
    },
  ],
  missing: ['no incidents from g2:9464: connect ECONNREFUSED'],
};

function frameOf(of: TopIncidents | undefined, columns: number, rows: number, about: Partial<UiState> = {}) {
  const state = { ...INITIAL, incidents: true, ...about };
  return framed({ ...sceneAfter(VIEWS, state), incidents: of }, state, { columns, rows });
}

it.each([
  [80, 24],
  [140, 30],
])('incidents: %dx%d', async (columns, rows) => {
  await expect(frameOf(ALL, columns, rows).text).toMatchFileSnapshot(`golden/${columns}x${rows}-incidents.txt`);
});

it('scrolls, and says what there is without any', () => {
  const many = { listed: Array.from({ length: 60 }, () => ALL.listed[0]!), missing: [] };
  const { shown } = frameOf(many, 80, 24);
  expect(shown.mostDetail).toBeGreaterThan(30);
  expect(frameOf(many, 80, 24, { detailOffset: 5 }).text).toContain('6-');
  expect(frameOf({ listed: [], missing: [] }, 80, 24).text).toContain('None in the last day.');
  expect(frameOf(undefined, 80, 24).text).toContain('Asking for incidents...');
});
