/** One screen of top as lines: exactly as many as the terminal has, and no wider. Pure. */
import { oneLine } from '../../ground/one-line.js';
import { type Detail, detailOf } from './detail.js';
import { doctorLines } from './doctor-page.js';
import { intervalText } from '../../ground/figures/clock.js';
import { headLines } from './head.js';
import { HELP } from './help.js';
import { incidentPage } from './incident-page.js';
import type { Shown, SizeMeasure, UiState } from './keys.js';
import { EMPTY, filled, type Line, narrowed, type Piece, piece, plain, edgeToEdge, styled } from './line.js';
import type { Scene, Surroundings } from './scene.js';
import { sizePage } from './size-page.js';
import { headingLine, headingPlaces, layoutFor, rowLine, sparkScale } from './table.js';

export function frame(scene: Scene, state: UiState, around: Surroundings): { lines: Line[]; shown: Shown } {
  const { columns, rows } = around;
  const { lines, shown } = frameFor(scene, state)(scene, state, around);
  const cut = lines.slice(0, rows).map((line) => narrowed(line, columns));
  if (around.unicode) return { lines: cut, shown };
  return { lines: cut.map((line) => line.map((one) => ({ ...one, text: asAscii(one.text) }))), shown };
}

const ASCII: Readonly<Record<string, string>> = { '·': '-', µ: 'u', '≥': '>', '…': '.', '–': '-', '×': 'x', '÷': '/' };

/** Names keep their characters. */
function asAscii(text: string): string {
  return text.replaceAll(/[·µ≥…–×÷]/g, (character) => ASCII[character]!);
}

type ScreenFrame = ReturnType<typeof frame>;

function frameFor(scene: Scene, state: UiState): typeof tableFrame {
  if (state.help) return helpFrame;
  if (state.doctor && scene.diagnosis !== undefined) return doctorFrame;
  if (state.incidents) return incidentsFrame;
  if (opened(scene, state)) return detailFrame;
  return state.sizes ? sizesFrame : tableFrame;
}

function opened({ rows }: Scene, { detail, cursor }: UiState): boolean {
  return detail && rows.some(({ agent }) => agent.id === cursor);
}

function padded(lines: readonly Line[], height: number): Line[] {
  return Array.from({ length: Math.max(0, height) }, (_, i) => lines[i] ?? EMPTY);
}

function idsOf({ rows }: Scene): string[] {
  return rows.map(({ agent }) => agent.id);
}

// --- table ---

function tableFrame(scene: Scene, state: UiState, around: Surroundings): ScreenFrame {
  const { rows } = scene;
  const head = headLines(scene, state, around);
  const height = Math.max(0, around.rows - head.length - 2);
  const most = Math.max(0, rows.length - height);
  const at = rows.findIndex(({ agent }) => agent.id === state.cursor);
  const wanted = Math.min(state.offset, most);
  // The row under the cursor stays on the screen when the order changes.
  const offset = at === -1 ? wanted : Math.min(Math.max(wanted, at - height + 1), at);
  const layout = layoutFor(scene, around.columns, state);
  const scale = sparkScale(scene);
  const body = rows.slice(offset, offset + height).map((row): Line => {
    const line = rowLine(row, scene, layout, around, scale);
    return row.agent.id === state.cursor ? styled(filled(line, around.columns), 'cursor') : line;
  });
  if (rows.length === 0) body.push(EMPTY, plain(`  ${emptyNote(scene, state, around)}`));
  const last = Math.min(offset + height, rows.length);
  const table = { line: head.length + 1, count: last - offset, first: offset, headings: headingPlaces(layout) };
  const place = rows.length === 0 ? 'none' : `${offset + 1}-${last} of ${rows.length}`;
  return {
    lines: [...head, headingLine(layout, state, around), ...padded(body, height), footerLine(state, around, place)],
    shown: { ids: idsOf(scene), height, most, mostDetail: 0, table },
  };
}

// --- time by size ---

function sizesFrame(scene: Scene, state: UiState, around: Surroundings): ScreenFrame {
  const { rows, sizes } = scene;
  const { columns } = around;
  const head = headLines(scene, state, { ...around, rows: 0 }).slice(0, 2);
  const ids = idsOf(scene);
  if (sizes === undefined || rows.length === 0 || sizes.agents.size === 0) {
    const none =
      rows.length === 0 ? [emptyNote(scene, state, around)] : (sizes?.missing ?? ['Asking for time by size...']);
    const body = [EMPTY, ...none.map((text) => plain(`  ${oneLine(text)}`))];
    const lines = [...head, ...padded(body, around.rows - head.length - 1), footerLine(state, around, '')];
    return { lines, shown: { ids, height: 0, most: 0, mostDetail: 0 } };
  }
  const { fixed, agents } = sizePage(rows, sizes, state.sizeMeasure, columns);
  const notes = sizes.missing.map((text) => plain(`  ${oneLine(text)}`));
  const room = Math.max(0, around.rows - head.length - fixed.length - notes.length - 1);
  const at = ids.indexOf(state.cursor ?? '');
  const { from, to, most } = agentsThatFit(
    agents.map((lines) => lines.length),
    room,
    state.offset,
    at,
  );
  const body = agents.slice(from, to).flatMap((lines, i) => {
    return from + i === at ? lines.map((line) => styled(filled(line, columns), 'cursor')) : lines;
  });
  const place = `${from + 1}-${to} of ${rows.length}`;
  const lines = [...head, ...fixed, ...padded(body, room), ...notes, footerLine(state, around, place)];
  return { lines, shown: { ids, height: Math.max(1, to - from), most, mostDetail: 0 } };
}

/** Returns the agents whose lines fit: those from the wanted offset on, moved as far as the one at the cursor needs it. */
function agentsThatFit(heights: readonly number[], room: number, wanted: number, at: number) {
  const fitting = (from: number): number => {
    let to = from;
    for (let left = room; to < heights.length && (to === from || heights[to]! <= left); to++) left -= heights[to]!;
    return to;
  };
  let most = 0;
  while (fitting(most) < heights.length) most++;
  let from = Math.min(wanted, most);
  if (at !== -1 && at < from) from = at;
  while (at !== -1 && fitting(from) <= at) from++;
  return { from, to: fitting(from), most };
}

function emptyNote({ view }: Scene, state: UiState, { origin }: Surroundings): string {
  if (view.rows.length === 0) return `No agents yet in ${oneLine(origin)}. Press h for the settings that agents need.`;
  if (state.filter !== '') return `No agent matches ${oneLine(state.filter)}`;
  if (state.problemsOnly) return 'No agent has a problem. Press ! for all agents.';
  return `${view.rows.length} old files without a writer. Press a to show them.`;
}

// --- detail, doctor, incidents and help ---

function detailFrame(scene: Scene, state: UiState, around: Surroundings): ScreenFrame {
  const row = scene.rows.find(({ agent }) => agent.id === state.cursor)!;
  return pageFrame(detailOf(row, scene, state, around), scene, state, around);
}

function doctorFrame(scene: Scene, state: UiState, around: Surroundings): ScreenFrame {
  const fixed = headLines(scene, state, { ...around, rows: 0 }).slice(0, 2);
  const lines = doctorLines(scene.diagnosis!, around.columns, around.unicode);
  return pageFrame({ fixed, lines }, scene, state, around);
}

function incidentsFrame(scene: Scene, state: UiState, around: Surroundings): ScreenFrame {
  const head = headLines(scene, state, { ...around, rows: 0 }).slice(0, 2);
  const { fixed, lines } = incidentPage(scene.incidents, around.columns);
  return pageFrame({ fixed: [...head, ...fixed], lines }, scene, state, around);
}

/** A head that stays, and lines that scroll. */
function pageFrame({ fixed, lines: rest }: Detail, scene: Scene, state: UiState, around: Surroundings): ScreenFrame {
  const height = Math.max(0, around.rows - fixed.length - 1);
  const most = Math.max(0, rest.length - height);
  const offset = Math.min(state.detailOffset, most);
  const place = most === 0 ? '' : `${offset + 1}-${Math.min(rest.length, offset + height)} of ${rest.length} lines`;
  return {
    lines: [...fixed, ...padded(rest.slice(offset), height), footerLine(state, around, place)],
    shown: { ids: idsOf(scene), height, most: 0, mostDetail: most },
  };
}

function helpFrame(scene: Scene, state: UiState, around: Surroundings): ScreenFrame {
  const head = headLines(scene, state, { ...around, rows: 0 }).slice(0, 2);
  const body = HELP.map((text) => plain(text));
  const lines = [...head, ...padded(body, around.rows - head.length - 1), footerLine(state, around, '')];
  return { lines, shown: { ids: idsOf(scene), height: 0, most: 0, mostDetail: 0 } };
}

// --- footer ---

type Hint = readonly [key: string, meaning: string];

/** Key m shows the next one. */
const NEXT_MEASURE: Readonly<Record<SizeMeasure, string>> = {
  peers: 'against earlier',
  earlier: 'time',
  time: 'rate',
  rate: 'against peers',
};

/** The most important ones first: those without room are left out. */
function hintsFor(state: UiState): readonly Hint[] {
  const interval: Hint = ['+-', intervalText(state.intervalMs)];
  const pause: Hint = ['p', state.paused ? 'go on' : 'pause'];
  if (state.help)
    return [
      ['h', 'back'],
      ['q', 'quit'],
    ];
  if (state.doctor || state.incidents)
    return [
      ['Esc', 'back'],
      ['up down', 'scroll'],
      ['h', 'keys'],
      ['q', 'quit'],
    ];
  if (state.detail)
    return [
      ['Esc', 'back'],
      ['j k', 'next'],
      ['m', state.lastMinute ? 'all so far' : 'last minute'],
      ['c', 'copy'],
      ['d', 'doctor'],
      ['h', 'keys'],
      ['q', 'quit'],
      ['up down', 'scroll'],
      pause,
      interval,
    ];
  if (state.sizes)
    return [
      ['Esc', 'back'],
      ['m', NEXT_MEASURE[state.sizeMeasure]],
      ['Enter', 'open'],
      ['/', 'find'],
      ['!', 'problems'],
      ['h', 'keys'],
      ['q', 'quit'],
      pause,
    ];
  return [
    ['Enter', 'open'],
    ['/', 'find'],
    ['!', 'problems'],
    ['s', 'sort'],
    ['h', 'keys'],
    ['q', 'quit'],
    ['b', 'by size'],
    ['i', 'incidents'],
    pause,
    interval,
    ['t', 'totals'],
    ['r', 'reverse'],
    ['n', 'next finding'],
    ['v', state.topFive ? 'all agents' : 'top five'],
    ['d', 'doctor'],
    ['m', state.mouse ? 'mouse off' : 'mouse on'],
  ];
}

function footerLine(state: UiState, { columns }: Surroundings, place: string): Line {
  const { typing, filter, problemsOnly } = state;
  if (state.said !== '') return plain(state.said);
  if (typing) return plain(`filter: ${oneLine(filter)}_   (Enter keeps it, Esc drops it)`);
  const filters = `${problemsOnly ? 'problems only  ' : ''}${filter === '' ? '' : `filter: ${oneLine(filter)}  `}`;
  const right = `${filters}${place}`;
  const pieces: Piece[] = [];
  let left = columns - right.length - 2;
  for (const [key, meaning] of hintsFor(state)) {
    left -= key.length + meaning.length + 3;
    if (left < 0) break;
    pieces.push(piece(key, 'bold'), piece(` ${meaning}  `, 'dim'));
  }
  return edgeToEdge(pieces, [piece(right, 'dim')], columns);
}
