/** Golden frames: `npx vitest run test/cli/top -u` writes them again. */
import { describe, expect, it } from 'vitest';
import { widthOf } from '../../../src/cli/figures/table.js';
import { frame, sparkline, type Surroundings } from '../../../src/cli/top/frame.js';
import { INITIAL, type UiState } from '../../../src/cli/top/keys.js';
import type { View } from '../../../src/cli/top/tracker.js';
import { exponentialTally } from '../../support/exponential.js';
import { buckets, sample, totals, viewOf } from './samples.js';

const AT = new Date(2026, 10, 21, 8, 12, 31).getTime();
const MB = 1_000_000;

/** Values so many times a second. */
function times(seconds: number, ...values: [value: number, perSecond: number][]): number[] {
  return values.flatMap(([value, perSecond]) => Array.from({ length: perSecond * seconds }, () => value));
}

/** One agent of each kind: busy, slow, idle, dead, losing events, with a full ring, with a name that is too long. */
function busyView(): View {
  const at = (second: number): ReturnType<typeof sample> =>
    sample(AT + second * 1000, [
      totals('decode-0', {
        txBytes: 417 * MB * second,
        rxBytes: 131 * MB * second ** 2,
        requests: 240 * second,
        transferTimes: exponentialTally(times(second, [64, 200], [412, 39], [9_000, 1])),
        postTimes: exponentialTally(times(second, [3, 240])),
        fill: 0.013,
      }),
      totals('prefill-7f3a9c1e-5b2d-4c8e-9a60-d41f2b7e8c35', {
        txBytes: 1.3e9 * second,
        requests: 12_000 * second,
        errors: 3 * second,
        lost: 3_440,
        lostMore: true,
        // As the buckets of an exposition.
        transferTimes: buckets(11_000 * second, 0, 0, 0, 900 * second, 100 * second),
        postTimes: buckets(0, 12_000 * second),
        fill: 0.87,
      }),
      totals('router', { idleMs: 754_000, rxBytes: 77, fill: 0 }),
      totals('decode-1', { life: 'dead', idleMs: 12_000, lost: 2, txBytes: 5 * MB }),
      totals('evil\x1b[31m\u202ename', { txBytes: 40 * (second % 2), idleMs: 100 }),
      totals('old-file', { unused: true, life: 'unknown', idleMs: 99_000 }),
    ]);
  return viewOf(...[0, 1, 2, 3, 4, 5].map(at));
}

function textOf(view: View, state: Partial<UiState> = {}, surroundings: Partial<Surroundings> = {}): string {
  const around = { columns: 80, rows: 14, origin: '/dev/shm/nixl', unicode: true, ...surroundings };
  const { lines } = frame(view, { ...INITIAL, ...state }, around);
  const texts = lines.map((line) => line.map(({ text }) => text).join(''));
  expect(texts).toHaveLength(around.rows);
  for (const text of texts) expect(widthOf(text)).toBeLessThanOrEqual(around.columns);
  return texts.map((text) => `${text.trimEnd()}\n`).join('');
}

const golden = (name: string): string => `golden/${name}.txt`;

describe('a frame', () => {
  it.each([
    ['80 columns', {}, { columns: 80 }],
    ['120 columns', {}, { columns: 120 }],
    ['200 columns', {}, { columns: 200 }],
    ['132 columns', {}, { columns: 132 }],
    ['40 columns', {}, { columns: 40 }],
    ['sorted by a column that does not fit', { sort: 'max' }, { columns: 80 }],
    ['totals', { totals: true, sort: 'tx' }, { columns: 120 }],
    ['help', { help: true }, { rows: 24 }],
    ['typing a filter', { typing: true, filter: 'code' }, {}],
    ['a filter that matches nothing', { filter: 'zzz*' }, {}],
    ['paused, with old files, by name', { paused: true, all: true, sort: 'agent' }, {}],
    ['without unicode', {}, { unicode: false }],
  ] as const)('%s', async (name, state, surroundings) => {
    await expect(textOf(busyView(), state, surroundings)).toMatchFileSnapshot(golden(name.replaceAll(/[ ,]+/g, '-')));
  });

  it('before there are rates', async () => {
    await expect(textOf(viewOf(sample(AT, [totals('a', { fill: 0.5 })])))).toMatchFileSnapshot(golden('first'));
  });

  it('without agents', async () => {
    const view = viewOf(sample(AT, [], ['/dev/shm/nixl/x is corrupt: too short for a ring: 1 bytes', 'another']));
    await expect(textOf(view)).toMatchFileSnapshot(golden('nothing'));
  });

  it('with more agents than rows scrolls, and shows its position', () => {
    const agents = Array.from({ length: 64 }, (_, i) => totals(`agent-${String(i).padStart(2, '0')}`));
    const view = viewOf(sample(AT, agents));
    const state = { ...INITIAL, sort: 'agent' as const, offset: 1_000 };
    const { lines, scrolling } = frame(view, state, { columns: 80, rows: 24, origin: 'x', unicode: true });
    expect(scrolling).toEqual({ height: 19, most: 45 });
    expect(lines.at(-2)![0]!.text).toContain('agent-63');
    expect(lines.at(-1)![0]!.text).toMatch(/46-64 of 64$/);
  });

  it.each([
    [1, 1],
    [0, 10],
    [7, 3],
  ])('fits %d columns and %d rows', (columns, rows) => {
    textOf(busyView(), {}, { columns, rows });
  });

  it('marks bad values by colour, and dims idle agents', () => {
    const { lines } = frame(busyView(), INITIAL, { columns: 120, rows: 14, origin: 'x', unicode: true });
    const styles = lines
      .slice(4, 9)
      .map((line) => line.filter(({ text }) => text.trim() !== '').map(({ style }) => style));
    expect(new Set(styles[0])).toEqual(new Set(['plain']));
    // Errors and losses are bad, a ring that is nearly full is a warning.
    expect(styles[1]!.slice(7, 10)).toEqual(['bad', 'bad', 'warn']);
    expect(styles.at(-1)).toContain('dim');
  });
});

it('draws the last values relative to the largest of them, and only 0 as a blank', () => {
  expect(sparkline([100, 0, 1, 400, 800], 6, true)).toBe(' ▁ ▁▄█');
  expect(sparkline([100, 0, 1, 400, 800], 3, true)).toBe('▁▄█');
  expect(sparkline([0, 0], 3, true)).toBe('   ');
  expect(sparkline([1, 800], 3, false)).toBe(' .@');
});
