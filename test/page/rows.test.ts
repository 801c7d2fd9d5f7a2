/** The table of agents as data: filter, order and shared parts of names; the address of a view; sparklines. */
import { describe, expect, it } from 'vitest';
import type { ServedAgent } from '../../src/view/model/agent-model.js';
import { orderOf, SORTS } from '../../src/page/browser/agents/columns.js';
import { filtered, type TableRow, sharedLength } from '../../src/page/browser/agents/rows.js';
import { pathsOf, thinned } from '../../src/page/browser/spark-paths.js';
import { hashOf, viewOf } from '../../src/page/browser/view.js';

function row(name: string, { label, ...about }: Partial<TableRow> & { readonly label?: string } = {}): TableRow {
  const agent = { id: 1, name, fill: 0, ...(label !== undefined && { engine: { label } }) } as ServedAgent;
  const rates = { txBytesPerSecond: 0, rxBytesPerSecond: 0, requestsPerSecond: 0, errorsPerSecond: 0 };
  const times = { transferTimeUs: undefined, postTimeUs: undefined };
  return { agent, state: 'live', ...rates, ...times, moved: [], ...about };
}
const names = (rows: readonly TableRow[]) => rows.map(({ agent }) => agent.name);

describe('the rows of the table', () => {
  const rows = [
    row('tp10', { txBytesPerSecond: 5 }),
    row('tp2', { txBytesPerSecond: undefined }),
    row('tp1', { txBytesPerSecond: 9, state: 'failing' }),
    row('Decode-0', { txBytesPerSecond: 7, state: 'incomplete' }),
    row('tp0', { txBytesPerSecond: 1, state: 'idle' }),
  ];
  const sorted = (sort: string) => names([...rows].sort(orderOf(sort)));

  it('stand together by instance and rank, and are found by both names', () => {
    const named = [
      row('0f', { label: 'vllm :8100 decode TP10' }),
      row('1e', { label: 'vllm :8200 prefill TP0' }),
      row('2d', { label: 'vllm :8100 decode TP2' }),
    ];
    expect(names([...named].sort(orderOf('name')))).toEqual(['2d', '0f', '1e']);
    const found = (query: string) => names(filtered(named, { query, states: [] }));
    expect([found('decode'), found('1E'), found('x')]).toEqual([['0f', '2d'], ['1e'], []]);
  });

  it('have problems first, then names by their numbers', () => {
    expect(sorted('problems')).toEqual(['Decode-0', 'tp1', 'tp0', 'tp2', 'tp10']);
    expect(sorted('name')).toEqual(['Decode-0', 'tp0', 'tp1', 'tp2', 'tp10']);
  });

  it('have ended ones last in every order', () => {
    const all = [row('a', { txBytesPerSecond: 99, state: 'ended' }), ...rows];
    for (const sort of ['problems', 'name', '-name', 'tx', '-tx', 'state']) {
      expect(names([...all].sort(orderOf(sort))).at(-1)).toBe('a');
    }
  });

  it('are sorted by a column in both directions, unknown values last', () => {
    expect(sorted('tx')).toEqual(['tp0', 'tp10', 'Decode-0', 'tp1', 'tp2']);
    expect(sorted('-tx')).toEqual(['tp1', 'Decode-0', 'tp10', 'tp0', 'tp2']);
  });

  it('are found by a part of the name in any case, and by state', () => {
    expect(names(filtered(rows, { query: 'CODE', states: [] }))).toEqual(['Decode-0']);
    expect(names(filtered(rows, { query: 'p1', states: ['failing', 'idle'] }))).toEqual(['tp1']);
    expect(filtered(rows, { query: '', states: [] })).toHaveLength(5);
  });

  it('distinguish what neighbours share from what differs, and divide no number', () => {
    const own = (name: string, ...neighbours: string[]) => name.slice(sharedLength(name, neighbours));
    expect(own('prefill-tp1', 'prefill-tp0', 'prefill-tp10')).toBe('1');
    expect(own('prefill-tp10', 'prefill-tp1')).toBe('10');
    expect(own('a', 'b')).toBe('a');
    expect(own('same', 'same')).toBe('same');
  });
});

describe('the address of the page', () => {
  it('holds what is not usual, and gives it back', () => {
    const usual = viewOf('', SORTS);
    expect(hashOf(usual)).toBe('');
    const chosen = {
      ...usual,
      agent: 'a&b #1',
      spanS: 60,
      zoom: [100, 160.5],
      query: 'tp',
      states: ['idle', 'ended'],
      sort: '-tx',
      showsTop: true,
    } as const;
    expect(viewOf(hashOf(chosen), SORTS)).toEqual(chosen);
  });

  it('takes a value that is not allowed as absent', () => {
    expect(viewOf('#span=7&from=9&to=3&state=odd,idle&sort=size&top=4&agent=', SORTS)).toEqual({
      ...viewOf('', SORTS),
      states: ['idle'],
    });
  });
});

describe('a sparkline', () => {
  it('ends at a gap and begins again after it', () => {
    const times = [0, 1, 2, 3, 4];
    const { line, area } = pathsOf({ times, values: [0, 10, null, 10, 0], from: 0, to: 4, top: 10 });
    expect(line).toBe('M0 100.0L1 8.0M3 8.0L4 100.0');
    expect(area).toBe('M0 100L0 100.0L1 8.0V100H0ZM3 100L3 8.0L4 100.0V100H3Z');
  });

  it('has means of neighbours in place of many points, and the newest point', () => {
    const times = Array.from({ length: 601 }, (_, i) => i);
    const { times: fewer, values } = thinned(times, [...times.slice(0, 600), null]);
    expect(fewer.length).toBeLessThanOrEqual(151);
    expect(fewer.at(-1)).toBe(600);
    expect(values.slice(0, 2)).toEqual([0, 3]);
    expect(values.at(-1)).toBeNull();
  });
});
