/** One table of columns for top and for the page. */
import { expect, it } from 'vitest';
import { orderOf, SORTS, TABLE_COLUMNS } from '../../../src/page/browser/agents/columns.js';
import { agentObject } from '../../../src/top/agent-object.js';
import { SORT_KEYS, TOP_COLUMNS } from '../../../src/top/columns.js';
import { pressed, INITIAL } from '../../../src/top/screen/keys.js';
import { AGENT_COLUMNS } from '../../../src/view/model/columns.js';
import { sample, totals, viewOf } from '../../top/samples.js';

const SHOWN = { ids: [], height: 0, most: 0, mostDetail: 0 };

it('has each column once, which every view that names it shows, sorts and prints', () => {
  const [row] = viewOf(sample(0, [totals('a')]), sample(1_000, [totals('a', { fill: 0.5 })])).rows;
  expect(new Set(AGENT_COLUMNS.map(({ id }) => id)).size).toBe(AGENT_COLUMNS.length);
  for (const { id, top, page, json, value } of AGENT_COLUMNS) {
    expect(TOP_COLUMNS.some((column) => column.id === id)).toBe(top !== undefined);
    expect(SORT_KEYS.includes(id)).toBe(top !== undefined && top.screenOnly !== true);
    expect(TABLE_COLUMNS.some((column) => column.id === id)).toBe(page !== undefined);
    if (page !== undefined) expect([SORTS.includes(id), typeof orderOf(`-${id}`)]).toEqual([true, 'function']);
    if (top?.letter !== undefined) expect(pressed(INITIAL, { sequence: top.letter }, SHOWN)!.sort).toBe(id);
    if (json !== undefined) expect(agentObject(row!)).toHaveProperty(json, value(row!) ?? null);
  }
});
