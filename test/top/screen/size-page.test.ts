/** Time by size of the seven agents on the screen: `npx vitest run test/top -u` writes the golden frames again. */
import { expect, it } from 'vitest';
import { SizeWindow } from '../../../src/view/sizes/size-window.js';
import { INITIAL, type UiState } from '../../../src/top/screen/keys.js';
import { noSizes, sizesOfRings, type TopSizes } from '../../../src/top/sizes.js';
import { classesOf, SEVEN_AGENTS, transfersOf } from '../../view/sizes/seven-agents.js';
import { sample, totals, viewsOf } from '../samples.js';
import { AT, framed, sceneAfter } from './scenes.js';

const NAMES = Object.keys(SEVEN_AGENTS) as (keyof typeof SEVEN_AGENTS)[];
const VIEWS = viewsOf(
  ...[0, 1].map((second) =>
    sample(
      AT + second * 1_000,
      [...NAMES, 'idle'].map((name) => totals(name)),
    ),
  ),
);
const NONE = { classes: [], endedInPost: 0, flushSquares: 0n };
/** Agents that also read some. */
const READS = new Set(['normal-0', 'slow-link']);

const RINGS = NAMES.map((id, number) => {
  const of = (count: number) => ({ ...NONE, classes: classesOf(transfersOf(SEVEN_AGENTS[id], count, number + 1)) });
  return { id, number, timeBySize: { transmit: of(2_000), receive: READS.has(id) ? of(60) : NONE } };
});

/** All transfers are those of the last 70 s, but those of `before`. */
function sizes(id?: string, before: readonly (typeof RINGS)[number][] = []): TopSizes {
  const window = new SizeWindow();
  window.take(
    AT - 70_000,
    before.map(({ number, timeBySize }) => ({ id: number, timeBySize })),
  );
  return sizesOfRings(RINGS, window, AT, id);
}

function frameOf(state: Partial<UiState>, columns: number, rows: number, of: TopSizes | undefined, unicode = true) {
  const full = { ...INITIAL, ...state };
  return framed({ ...sceneAfter(VIEWS, full), sizes: of }, full, { columns, rows, unicode });
}

it.each([
  [80, 24, 'peers'],
  [120, 40, 'peers'],
  [200, 60, 'peers'],
  [80, 24, 'time'],
  [80, 24, 'rate'],
  [120, 40, 'rate'],
] as const)('time by size of all agents: %dx%d, %s', async (columns, rows, sizeMeasure) => {
  const { text } = frameOf({ sizes: true, sizeMeasure }, columns, rows, sizes());
  await expect(text).toMatchFileSnapshot(`golden/${columns}x${rows}-sizes-${sizeMeasure}.txt`);
});

it.each([
  [80, 60, true],
  [120, 40, true],
  [120, 40, false],
] as const)('time by size of one agent: %dx%d, last minute: %s', async (columns, rows, lastMinute) => {
  const state = { detail: true, cursor: 'slow-link', lastMinute };
  const { text } = frameOf(state, columns, rows, sizes('slow-link'));
  expect(text).toMatch(/size ÷ (499|5\d\d) MB/);
  await expect(text).toMatchFileSnapshot(
    `golden/${columns}x${rows}-sizes-of-one${lastMinute ? '-last-minute' : ''}.txt`,
  );
});

it('marks by words and signs what it marks by colour', () => {
  const { text } = frameOf({ sizes: true }, 120, 40, sizes());
  expect(text).toMatch(/^slow-link +tx +=.* ×\d\d .* 1\d µs .* (499|5\d\d) MB\/s$/m);
  expect(text).toMatch(/^ +rx .* few /m);
  expect(text).toMatch(/^big-slow .* no line: bends at 1 MiB$/m);
  expect(text).toMatch(/^tiny .* too few sizes$/m);
  expect(text).toMatch(/^idle +no transfers$/m);
  expect(frameOf({ sizes: true, sizeMeasure: 'time' }, 120, 40, sizes()).text).toMatch(/^ +rx .*\(\d[^)]*s\)/m);
  // Nothing is of the last minute: a star marks sums of all so far.
  expect(frameOf({ sizes: true, sizeMeasure: 'time' }, 120, 40, sizes(undefined, RINGS)).text).toMatch(
    /^tiny +tx\* +\d/m,
  );
  expect(frameOf({ sizes: true }, 120, 40, sizes(), false).text).toMatch(/^[\n -~]*$/);
});

it('says why there is nothing', () => {
  expect(frameOf({ sizes: true }, 80, 24, undefined).text).toContain('Asking for time by size');
  expect(frameOf({ sizes: true }, 80, 24, noSizes('gpu-7 has no time by size')).text).toContain(
    '  gpu-7 has no time by size',
  );
  const detail = { detail: true, cursor: 'tiny' };
  expect(frameOf(detail, 80, 60, noSizes('gpu-7 has no time by size')).text).toContain('  gpu-7 has no time by size');
});

it('keeps the agent under the cursor on a screen with too few lines', () => {
  const { text, shown } = frameOf({ sizes: true, cursor: 'tiny', offset: 0 }, 80, 10, sizes());
  expect(text).toMatch(/^tiny /m);
  expect(text).not.toMatch(/^big-slow /m);
  expect(shown.ids).toHaveLength(8);
});
