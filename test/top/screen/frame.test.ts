/** Golden frames: `npx vitest run test/top -u` writes them again. */
import { describe, expect, it } from 'vitest';
import { INITIAL } from '../../../src/top/screen/keys.js';
import type { FleetView } from '../../../src/top/tracker.js';
import { exponentialTally } from '../../support/exponential.js';
import { buckets, RINGS, sample, totals, viewsOf } from '../samples.js';
import { AT, DETAILS, fleetViews, frameAfter, sceneAfter, framed, SERVE } from './scenes.js';

const MB = 1_000_000;

/** Values so many times a second. */
function times(seconds: number, ...values: [value: number, perSecond: number][]): number[] {
  return values.flatMap(([value, perSecond]) => Array.from({ length: perSecond * seconds }, () => value));
}

/** One agent of each kind: busy, slow, idle, dead, losing events, with a full ring, with a name that is too long. */
function busyViews(): FleetView[] {
  const at = (second: number): ReturnType<typeof sample> =>
    sample(AT + second * 1000, [
      totals('decode-0', {
        txBytes: 417 * MB * second,
        rxBytes: 131 * MB * second ** 2,
        txRequests: 240 * second,
        transferTimesUs: exponentialTally(times(second, [64, 200], [412, 39], [9_000, 1])),
        postTimesUs: exponentialTally(times(second, [3, 240])),
        fill: 0.013,
      }),
      totals('prefill-7f3a9c1e-5b2d-4c8e-9a60-d41f2b7e8c35', {
        txBytes: 1.3e9 * second,
        txRequests: 12_000 * second,
        errors: [3 * second],
        lost: 3_440,
        dropped: 3_440,
        // As the buckets of an exposition.
        transferTimesUs: buckets(11_000 * second, 0, 0, 0, 900 * second, 100 * second),
        postTimesUs: buckets(0, 12_000 * second),
        fill: 0.87,
      }),
      totals('router', { idleMs: 754_000, rxBytes: 77, fill: 0 }),
      totals('decode-1', { life: 'dead', idleMs: 12_000, lost: 2, txBytes: 5 * MB }),
      totals('evil\x1b[31m\u202ename', { txBytes: 40 * (second % 2), idleMs: 100, suspect: true }),
      totals('old-file', { unused: true, life: 'unknown', idleMs: 99_000 }),
    ]);
  return viewsOf(...[0, 1, 2, 3, 4, 5].map(at));
}

const golden = (name: string): string => `golden/${name}.txt`;

describe('a frame', () => {
  it.each([
    ['80 columns', {}, { columns: 80 }],
    ['120 columns', {}, { columns: 120 }],
    ['200 columns', {}, { columns: 200 }],
    ['40 columns', {}, { columns: 40 }],
    ['sorted by a column that does not fit', { sort: 'max' }, { columns: 80 }],
    ['totals', { totals: true, sort: 'tx' }, { columns: 120 }],
    ['help', { help: true }, { rows: 24 }],
    ['typing a filter', { typing: true, filter: 'code' }, {}],
    ['a filter that matches nothing', { filter: 'zzz*' }, {}],
    ['no problems', { problemsOnly: true, filter: 'rout' }, {}],
    ['paused, with old files, by rate', { paused: true, all: true, sort: 'rate', problemsFirst: false }, {}],
    ['without unicode', {}, { unicode: false }],
  ] as const)('%s', async (name, state, surroundings) => {
    const { text } = frameAfter(busyViews(), state, { rows: 14, ...surroundings });
    await expect(text).toMatchFileSnapshot(golden(name.replaceAll(/[ ,]+/g, '-')));
  });

  it.each([
    ['80x24', 'fleet', 80, 24, {}],
    ['120x40', 'fleet', 120, 40, {}],
    ['200x50', 'fleet', 200, 50, {}],
    ['120x40', 'detail', 120, 40, { detail: true, cursor: 'prefill-llama70b-tp5' }],
    ['80x24', 'detail', 80, 24, { detail: true, cursor: 'prefill-llama70b-tp5' }],
    ['80x24', 'detail scrolled', 80, 24, { detail: true, cursor: 'prefill-llama70b-tp5', detailOffset: 1_000 }],
    ['120x40', 'fleet by transfer time, without problems first', 120, 40, { sort: 'p99', problemsFirst: false }],
    ['120x40', 'last minute', 120, 40, { detail: true, lastMinute: true, cursor: 'prefill-llama70b-tp11' }],
    ['80x24', 'top five', 80, 24, { topFive: true }],
    ['120x40', 'top five of a filter', 120, 40, { topFive: true, filter: 'decode' }],
    ['100x30', 'problems only', 100, 30, { problemsOnly: true, finding: 1 }],
  ] as const)('%s: %s', async (size, name, columns, rows, state) => {
    const { text } = frameAfter(fleetViews(), state, { columns, rows }, DETAILS);
    await expect(text).toMatchFileSnapshot(golden(`${size}-${name.replaceAll(/[ ,]+/g, '-')}`));
  });

  it('scales a graph by the time that it shows', () => {
    // A hundred seconds ago the rate was a hundred times as high.
    const at = (second: number) =>
      sample(AT + second * 1_000, [
        totals('a', { txBytes: MB * (second < 20 ? 500 * second : 10_000 + 5 * (second - 20)) }),
      ]);
    const { text } = frameAfter(viewsOf(...Array.from({ length: 120 }, (_, second) => at(second))));
    expect(text).toMatch(/ tx {2}5\.00 MB\/s .* 5 MB\/s$/m);
  });

  it('shows the whole advice where the table leaves lines empty, and not where it needs them', () => {
    const full = (others: number) => {
      const agents = (count: number) => [
        totals('prefill-llama70b-tp5', { capacity: 4_096, foundFull: count }),
        ...Array.from({ length: others }, (_, i) => totals(`decode-${i}`)),
      ];
      return frameAfter(viewsOf(sample(AT, agents(0)), sample(AT + 1_000, agents(120))), {}, { columns: 80, rows: 24 });
    };
    expect(full(3).text).toContain('or give serve more CPU time.');
    const { text } = full(40);
    expect(text).not.toContain('CPU time');
    expect(text.split('\n').filter((line) => /^\S decode/.test(line))).toHaveLength(14);
  });

  it('without unicode has only ASCII', async () => {
    const { text } = frameAfter(fleetViews(), {}, { columns: 120, rows: 40, unicode: false });
    expect(text).toMatch(/^[\n -~]*$/);
    await expect(text).toMatchFileSnapshot(golden('120x40-without-unicode'));
  });

  it('before there are rates', async () => {
    const { text } = frameAfter(viewsOf(sample(AT, [totals('a', { fill: 0.5 })])), {}, { rows: 14 });
    await expect(text).toMatchFileSnapshot(golden('first'));
  });

  it('without agents says which directories cannot be read', async () => {
    const complaints = ['/dev/shm/nixl cannot be read: it does not exist; agents do not create it'];
    const { text } = frameAfter(viewsOf(sample(AT, [], [], { ...RINGS, complaints })), {}, { rows: 14 });
    await expect(text).toMatchFileSnapshot(golden('nothing'));
  });

  it('of a serve that gives no answer says how old the numbers are, and has a gap in the graph', async () => {
    const facts = { ...SERVE, stale: { forMs: 12_000, reason: 'connect ECONNREFUSED 127.0.0.1:9464' } };
    const at = (second: number) =>
      sample(AT + second * 1_000, [totals('a', { txBytes: 5 * MB * second })], [], second < 20 ? SERVE : facts);
    const views = viewsOf(...Array.from({ length: 30 }, (_, second) => at(second)));
    const { text, lines } = frameAfter(views);
    expect(lines[1]!.map(({ style }) => style)).toEqual(['badGround']);
    await expect(text).toMatchFileSnapshot(golden('stale'));
  });

  it('of several hosts has their names, and dims the agents of one that gives no answer', async () => {
    const stale = { forMs: 5_000, reason: 'connect ECONNREFUSED' };
    const [view] = viewsOf(
      sample(
        AT,
        ['gpu-17:9464', 'gpu-18:9464'].map((host) => totals('a', { id: host, host })),
      ),
    );
    const parts = [
      { host: 'gpu-17:9464', facts: SERVE },
      { host: 'gpu-18:9464', facts: { ...SERVE, stale } },
    ];
    const { text, lines } = frameAfter([{ ...view!, parts }], {}, { columns: 100, rows: 14 });
    await expect(text).toMatchFileSnapshot(golden('100-columns-two-hosts'));
    const shapes = lines.flatMap((line) => line.filter((one) => one.text === '● '));
    expect(shapes.map(({ style }) => style)).toEqual(['ok', 'dim']);
  });

  it('of a host that has never answered says so, beside the agents of another', async () => {
    const stale = { forMs: 5_000, reason: 'connect ECONNREFUSED', answered: false } as const;
    const [view] = viewsOf(sample(AT, [totals('a', { host: 'gpu-18:9464' })]));
    const parts = [
      { host: 'gpu-17:9464', facts: { ...SERVE, stale } },
      { host: 'gpu-18:9464', facts: SERVE },
    ];
    const { text } = frameAfter([{ ...view!, parts }], {}, { columns: 120, rows: 24 });
    await expect(text).toMatchFileSnapshot(golden('120-columns-a-host-without-an-answer'));
  });

  it('with more agents than rows follows the cursor, and shows its position', () => {
    const names = Array.from({ length: 64 }, (_, i) => `agent-${i}`);
    const views = viewsOf(
      sample(
        AT,
        names.map((name) => totals(name)),
      ),
    );
    const scrolled = frameAfter(views, { offset: 1_000 });
    expect(scrolled.shown).toMatchObject({ ids: names, height: 15, most: 49, mostDetail: 0 });
    expect(scrolled.shown.table).toMatchObject({ line: 8, count: 15, first: 49 });
    expect(scrolled.text).toMatch(/agent-63 .*\n.*50-64 of 64\n$/);
    const state = { ...INITIAL, cursor: 'agent-40' };
    const { lines, text } = framed(sceneAfter(views, state), state);
    expect(text).toMatch(/27-41 of 64\n$/);
    const cursor = lines.filter((line) => line.some(({ style }) => style === 'cursor'));
    expect(cursor.map((line) => line.map((one) => one.text).join(''))).toEqual([expect.stringMatching(/^● agent-40 /)]);
  });

  it.each([
    [1, 1],
    [0, 10],
    [7, 3],
    [300, 100],
    [80, 5],
  ])('fits %d columns and %d rows', (columns, rows) => {
    frameAfter(busyViews(), {}, { columns, rows });
    frameAfter(fleetViews(), { detail: true, cursor: 'prefill-llama70b-tp5' }, { columns, rows }, DETAILS);
    frameAfter(fleetViews(), { help: true }, { columns, rows });
  });

  it('marks states and bad values by colour, and dims zeros and idle agents', () => {
    const { lines } = frameAfter(fleetViews(), {}, { columns: 120, rows: 90 });
    const rowOf = (name: string) =>
      lines.find((line) =>
        line
          .map(({ text }) => text)
          .join('')
          .includes(`${name} `),
      )!;
    const styleOf = (name: string, text: RegExp) => rowOf(name).find((one) => text.test(one.text))?.style;
    expect(styleOf('prefill-llama70b-tp5', /▲/)).toBe('warn');
    expect(styleOf('prefill-llama70b-tp5', /100%/)).toBe('warnGround');
    expect(styleOf('prefill-llama70b-tp11', /◆/)).toBe('bad');
    expect(styleOf('prefill-llama70b-tp11', /^ +5$/)).toBe('bad');
    expect(styleOf('decode-llama70b-tp11', /✕/)).toBe('dim');
    expect(styleOf('prefill-llama70b-tp0', /●/)).toBe('ok');
    expect(styleOf('prefill-llama70b-tp0', /^ +0$/)).toBe('dim');
    expect(lines[1]!.every(({ style }) => style === 'warnGround')).toBe(true);
  });

  it('marks the rates of a ring that is too fast to be watched', () => {
    const { lines } = frameAfter(busyViews(), {}, { columns: 100 });
    const line = lines.find((pieces) =>
      pieces
        .map(({ text }) => text)
        .join('')
        .includes('evil'),
    )!;
    expect(line.find(({ text }) => text.includes('~40'))?.style).toBe('warn');
  });
});
