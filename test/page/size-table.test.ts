/** The table of time by size as data: cells, shades, rows in order; the address of its choices. */
import { describe, expect, it } from 'vitest';
import { decadesOf, placeIn, shadesOf, STRIP_BINS } from '../../src/view/sizes/class-strip.js';
import {
  boundsIn,
  movedDirections,
  orderedSizes,
  sizeRowsOf,
  slownessOf,
  usualMeasure,
} from '../../src/page/browser/sizes/size-table.js';
import { timePlotOf } from '../../src/view/sizes/time-plot.js';
import { hashOf, viewOf } from '../../src/page/browser/view.js';
import type { AgentSizes } from '../../src/view/sizes/direction-sizes.js';
import type { DirectionSizes, RecentClass } from '../../src/view/sizes/direction-sizes.js';
import type { TimeModel } from '../../src/view/sizes/time-line.js';

const NONE: TimeModel = { kind: 'none', reason: 'few-classes' };
const NOTHING: DirectionSizes = { classes: [], recent: [], model: NONE, endedInPost: 0 };

function sized(upToBytes: number | null, about: Partial<RecentClass> = {}): RecentClass {
  const numbers = { transfers: 50, bytes: 200_000, meanBytes: 4000, p50Us: 30, p90Us: 40, p99Us: 105, maxUs: 200 };
  return { upToBytes, ...numbers, postTransfers: 50, bytesPerSecond: 149e6, few: false, ...about };
}

function agent(id: number, recent: readonly RecentClass[], model: TimeModel = NONE): AgentSizes {
  const name = `kv-${id}`;
  const tx = { ...NOTHING, classes: recent, recent, model, posting: { p50Us: 3 } };
  return { id, agent: name, directory: '/rings', name, tx, rx: NOTHING };
}

describe('the table of time by size', () => {
  const slow = agent(1, [sized(4096, { againstPeers: 1.2 }), sized(2 ** 20, { againstPeers: 23, againstEarlier: 7 })]);
  const scarce = agent(2, [sized(4096, { few: true, transfers: 12, againstPeers: 30 }), sized(null)]);
  const agents = [agent(3, [sized(4096, { againstPeers: 0.4 })]), scarce, agent(4, []), slow];
  const valuesOf = (measure: Parameters<typeof sizeRowsOf>[2], id = 1) =>
    [
      ...sizeRowsOf(agents, 'tx', measure)
        .find((row) => row.id === id)!
        .cells.values(),
    ].map(({ figure }) => figure);

  it('has a row for each agent that moves, and a column for each class of any of them', () => {
    const rows = sizeRowsOf(agents, 'tx', 'peers');
    expect(rows.map(({ id }) => id)).toEqual([3, 2, 1]);
    expect(boundsIn(rows)).toEqual([4096, 2 ** 20, Infinity]);
    expect(rows[0]!.cells.get(2 ** 20)).toBeUndefined();
    expect(sizeRowsOf(agents, 'rx', 'peers')).toEqual([]);
    expect(movedDirections(agents)).toEqual(['tx']);
  });

  it('shows a multiple of the peers or of the agent before, a time, or a rate', () => {
    expect(valuesOf('peers')).toEqual([
      { value: '=', unit: '' },
      { value: '×23', unit: '' },
    ]);
    expect(valuesOf('earlier').map(({ value }) => value)).toEqual(['-', '×7.0']);
    expect(valuesOf('time')[0]).toEqual({ value: '30', unit: 'µs' });
    expect(valuesOf('rate')[0]).toEqual({ value: '149', unit: 'MB/s' });
    expect(valuesOf('peers', 3)[0]).toEqual({ value: '×0.4', unit: '' });
  });

  it('shades only multiples, and says what a cell rests on', () => {
    expect([undefined, 0.2, 1.4, 1.5, 3, 7.9, 8, 20, 900].map(slownessOf)).toEqual([0, 0, 0, 1, 2, 2, 3, 4, 4]);
    const [row] = sizeRowsOf([slow], 'tx', 'peers');
    expect(row!.cells.get(2 ** 20)).toMatchObject({ slowness: 4, few: '' });
    expect(row!.cells.get(2 ** 20)!.title).toBe(
      'up to 1 MiB: 50 transfers, median 30 µs, p99 105 µs, 23 times its peers, 7.0 times itself before',
    );
    expect(sizeRowsOf([slow], 'tx', 'time')[0]!.slowness).toBe(0);
  });

  it('says that a cell rests on few transfers, which make no agent slow', () => {
    const [row] = sizeRowsOf([scarce], 'tx', 'peers');
    expect(row!.cells.get(4096)!.few).toBe('12 transfers, fewer than 20');
    expect(row!.slowness).toBe(0);
    expect(row!.cells.get(Infinity)!.title).toMatch(/^over 1 GiB: 50 transfers/);
  });

  it('has base, post and rate, or words where there is no line', () => {
    const fitted = { baseUs: 19, usPerByte: 0.002 };
    const line: TimeModel = { kind: 'line', baseUs: 19, bytesPerSecond: 480e6, classes: 3, outlying: [], fitted };
    const rowOf = (model: TimeModel) => sizeRowsOf([agent(1, [sized(4096)], model)], 'tx', 'time')[0];
    expect(rowOf(line)).toMatchObject({
      base: { figure: { value: '19', unit: 'µs' } },
      posting: { value: '3', unit: 'µs' },
      rate: { figure: { value: '480', unit: 'MB/s' } },
    });
    expect(rowOf(NONE)).toMatchObject({ base: { words: '' }, rate: { words: 'too few sizes' } });
    expect(rowOf({ kind: 'bends', atBytes: 2 ** 20 })!.rate).toEqual({ words: 'no line: bends at 1 MiB' });
  });

  it('compares with peers if any agent has them', () => {
    expect(usualMeasure(agents, 'tx')).toBe('peers');
    expect(usualMeasure([agent(1, [sized(4096)])], 'tx')).toBe('time');
  });

  it('puts the slowest rows first, others as the page, and moves none under a pointer', () => {
    const rows = sizeRowsOf(agents, 'tx', 'peers');
    const ids = (...args: [order: number[], isSlowestFirst: boolean, held?: number[]]) =>
      orderedSizes(rows, ...args).map(({ id }) => id);
    expect(ids([4, 3, 2, 1], true)).toEqual([1, 3, 2]);
    expect(ids([4, 3, 2, 1], false)).toEqual([3, 2, 1]);
    expect(ids([3, 1], false)).toEqual([3, 1]);
    expect(ids([3, 2, 1], true, [2, 3])).toEqual([2, 3, 1]);
  });

  it('has its choices in the address', () => {
    const view = viewOf('#measure=rate&direction=rx', []);
    expect(view).toMatchObject({ measure: 'rate', direction: 'rx' });
    expect(hashOf(view)).toBe('#measure=rate&direction=rx');
    expect(hashOf(viewOf('#measure=guess&direction=up', []))).toBe('');
  });
});

describe('the strip and the plot of a size class', () => {
  it('spans whole decades, and shades bins by their share of the fullest', () => {
    expect(decadesOf([12, 900])).toEqual({ from: 10, to: 1000 });
    expect(decadesOf([0])).toEqual({ from: 1, to: 10 });
    const range = { from: 1, to: 1024 };
    expect([0, 1, 32, 1024, 9999].map((us) => placeIn(range, us))).toEqual([0, 0, 0.5, 1, 1]);
    // Scale 0: times in (1, 2] and (512, 1024].
    const counts = [100, 0, 0, 0, 0, 0, 0, 0, 0, 10];
    const shades = shadesOf({ scale: 0, zeroCount: 0, offset: 0, counts }, range);
    expect(shades).toHaveLength(STRIP_BINS);
    expect(shades.filter((shade) => shade !== undefined)).toEqual([5, 1]);
  });

  it('draws a line only where there is one, and labels classes that have room', () => {
    const fitted = { baseUs: 19, usPerByte: 0.002 };
    const line: TimeModel = { kind: 'line', baseUs: 19, bytesPerSecond: 480e6, classes: 3, outlying: [], fitted };
    const classes = [4096, 8192, 2 ** 23].map((bound) => sized(bound, { meanBytes: bound }));
    const plot = timePlotOf(classes, { from: 10, to: 1e5 }, line, NONE);
    expect(plot.line).toMatch(/^M52\.0 [\d.]+L/);
    expect(plot.peers).toBe('');
    expect(plot.sizeTicks.map(({ text }) => text)).toEqual(['4 KiB', '8 MiB']);
    expect(plot.timeTicks.map(({ text }) => text)).toEqual(['10 µs', '100 µs', '1 ms', '10 ms', '100 ms']);
    for (const { y, topY } of plot.points) expect(topY).toBeLessThan(y);
  });
});
