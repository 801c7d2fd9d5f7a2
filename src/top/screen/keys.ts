/** Keys of the screen, and the state that they change. Pure. */
import type { Key } from 'node:readline';
import { LINE_COLUMNS, SORT_KEYS } from '../columns.js';
import { DEFAULT_INTERVAL_MS } from '../pace.js';
import type { Selection } from '../selection.js';

export const SIZE_MEASURES = ['peers', 'earlier', 'time', 'rate'] as const;
/** What the cells of time by size show: multiples of medians of others, or figures. */
export type SizeMeasure = (typeof SIZE_MEASURES)[number];

export interface UiState extends Selection {
  /** Problems stand before other agents, whatever the order. */
  readonly problemsFirst: boolean;
  /** Graphs of the five agents that move most, in place of those of all. */
  readonly topFive: boolean;
  readonly problemsOnly: boolean;
  /** True while the user types the filter. */
  readonly typing: boolean;
  readonly paused: boolean;
  readonly help: boolean;
  /** Id of the agent under the cursor. */
  readonly cursor: string | undefined;
  /** Shows the agent under the cursor alone. */
  readonly detail: boolean;
  /** Shows time by size of all agents, in place of the table. */
  readonly sizes: boolean;
  readonly sizeMeasure: SizeMeasure;
  /** Shows what was found in the last day. */
  readonly incidents: boolean;
  /** Shows what doctor has found. */
  readonly doctor: boolean;
  /** The detail shows the distributions of the last minute, not all so far. */
  readonly lastMinute: boolean;
  /** Number of rows above the first shown one, in the table. */
  readonly offset: number;
  /** The same in the detail, and in the findings of doctor. */
  readonly detailOffset: number;
  /** Number of the finding in the strip. */
  readonly finding: number;
  readonly intervalMs: number;
  /** The terminal reports its mouse. */
  readonly mouse: boolean;
  /** Message in the last line, until the next key. */
  readonly said: string;
}

export const INITIAL: UiState = {
  sort: 'agent',
  reverse: false,
  filter: '',
  all: false,
  totals: false,
  problemsFirst: true,
  topFive: false,
  problemsOnly: false,
  typing: false,
  paused: false,
  help: false,
  cursor: undefined,
  detail: false,
  sizes: false,
  sizeMeasure: 'peers',
  incidents: false,
  doctor: false,
  lastMinute: false,
  offset: 0,
  detailOffset: 0,
  finding: 0,
  intervalMs: DEFAULT_INTERVAL_MS,
  mouse: true,
  said: '',
};

/** Content of the last frame. */
export interface Shown {
  /** Ids of all selected agents, in their order. */
  readonly ids: readonly string[];
  /** Rows that fit on the screen, and their highest offset. */
  readonly height: number;
  readonly most: number;
  /** Highest offset of the detail. */
  readonly mostDetail: number;
  /** Present if the frame is a table. */
  readonly table?: TablePlace;
}

/** Place of a table on the screen; lines and columns count from 0. */
export interface TablePlace {
  /** Line of the first row; the headings stand above it. */
  readonly line: number;
  /** Number of rows that are shown, and the place of the first one among all. */
  readonly count: number;
  readonly first: number;
  readonly headings: readonly { readonly key: string; readonly from: number; readonly to: number }[];
}

const MAX_FILTER = 100;
const TOGGLES: ReadonlyMap<
  string,
  'reverse' | 'paused' | 'totals' | 'all' | 'help' | 'problemsOnly' | 'problemsFirst' | 'topFive' | 'mouse'
> = new Map(
  Object.entries({
    r: 'reverse',
    p: 'paused',
    ' ': 'paused',
    t: 'totals',
    a: 'all',
    h: 'help',
    '?': 'help',
    '!': 'problemsOnly',
    P: 'problemsFirst',
    v: 'topFive',
    m: 'mouse',
  } as const),
);
/** Steps to another sort key, by character and by name of the key. */
const SORT_STEPS: ReadonlyMap<string, number> = new Map(Object.entries({ s: 1, '>': 1, S: -1, '<': -1 }));
const ARROW_STEPS: ReadonlyMap<string, number> = new Map(Object.entries({ right: 1, left: -1 }));
const SORT_LETTERS: ReadonlyMap<string, string> = new Map([
  ['A', 'agent'],
  ...LINE_COLUMNS.flatMap(({ id, about }) => (about.top.letter === undefined ? [] : [[about.top.letter, id] as const])),
  ['X', 'rate'],
]);
const INTERVALS_MS = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000];

/** Returns the state after a key; undefined to end. */
export function pressed(before: UiState, key: Key, shown: Shown): UiState | undefined {
  const { name = '', sequence = '' } = key;
  const state = before.said === '' ? before : { ...before, said: '' };
  if (key.ctrl === true && (name === 'c' || name === 'd')) return undefined;
  if (state.typing) return typed(state, key);
  if (sequence === 'q') return undefined;
  if (name === 'escape') return left(state);
  const moved = (state.doctor || state.incidents ? scrolled : state.detail ? movedInDetail : movedInTable)(
    state,
    key,
    shown,
  );
  if (moved !== undefined) return moved;
  const closed = { ...state, incidents: false, detail: false, doctor: false, help: false };
  if (sequence === '/') return { ...closed, typing: true };
  if (sequence === 'i') return { ...closed, incidents: !state.incidents, detailOffset: 0 };
  if (sequence === 'b') return { ...closed, sizes: !state.sizes || state.detail };
  if (sequence === 'm' && state.sizes && !state.doctor)
    return { ...state, sizeMeasure: nextMeasure(state.sizeMeasure) };
  if (sequence === 'd') return { ...state, doctor: !state.doctor, help: false, detailOffset: 0 };
  if (sequence === 'n') return { ...state, finding: state.finding + 1 };
  if (sequence === '+' || sequence === '=') return { ...state, intervalMs: longer(state.intervalMs) };
  if (sequence === '-') return { ...state, intervalMs: shorter(state.intervalMs) };
  const toggle = TOGGLES.get(sequence);
  if (toggle !== undefined) return { ...state, [toggle]: !state[toggle] };
  return sortedBy(state, key);
}

/** Returns whether the key copies the open agent. */
export function copies({ detail, doctor, help, typing }: UiState, { sequence }: Key): boolean {
  return sequence === 'c' && detail && !doctor && !help && !typing;
}

/** Goes back by one step: out of the help, the detail, the filters, the cursor. */
function left(state: UiState): UiState {
  if (state.help) return { ...state, help: false };
  if (state.doctor) return { ...state, doctor: false, detailOffset: 0 };
  if (state.incidents) return { ...state, incidents: false, detailOffset: 0 };
  if (state.detail) return { ...state, detail: false };
  if (state.sizes) return { ...state, sizes: false };
  if (state.filter !== '' || state.problemsOnly) return { ...state, filter: '', problemsOnly: false };
  return { ...state, cursor: undefined };
}

/** Moves the cursor. The first key puts it into the first shown row. */
function movedInTable(state: UiState, { name = '', sequence = '' }: Key, shown: Shown): UiState | undefined {
  const { ids, height, most } = shown;
  const at = state.cursor === undefined ? -1 : ids.indexOf(state.cursor);
  const first = Math.min(state.offset, most);
  if (name === 'return' || name === 'enter') {
    const cursor = at === -1 ? ids[first] : state.cursor;
    return cursor === undefined ? state : { ...state, cursor, detail: true, detailOffset: 0, help: false };
  }
  const to = targets(at, first, height, ids.length).get(sequence === 'j' || sequence === 'k' ? sequence : name);
  if (to === undefined) return undefined;
  const target = Math.min(Math.max(0, to), ids.length - 1);
  const cursor = ids[target];
  if (cursor === undefined) return state;
  return { ...state, cursor, offset: Math.min(Math.max(first, target - height + 1), target) };
}

function targets(at: number, first: number, height: number, count: number): ReadonlyMap<string, number> {
  const [up, down] = at === -1 ? [first, first] : [at - 1, at + 1];
  const from = at === -1 ? first : at;
  const [pageup, pagedown] = [from - height, from + height];
  return new Map(Object.entries({ up, k: up, down, j: down, pageup, pagedown, home: 0, end: count - 1 }));
}

function movedInDetail(state: UiState, { name = '', sequence = '' }: Key, shown: Shown): UiState | undefined {
  const { ids } = shown;
  if (sequence === 'j' || sequence === 'k') {
    const at = state.cursor === undefined ? 0 : ids.indexOf(state.cursor);
    const cursor = ids[Math.min(Math.max(0, at + (sequence === 'j' ? 1 : -1)), ids.length - 1)];
    return cursor === undefined ? state : { ...state, cursor };
  }
  if (name === 'return' || name === 'enter') return { ...state, detail: false };
  if (sequence === 'm') return { ...state, lastMinute: !state.lastMinute };
  return scrolled(state, { name }, shown);
}

/** Moves the lines of a page. */
function scrolled(state: UiState, { name = '' }: Key, { height, mostDetail }: Shown): UiState | undefined {
  const from = Math.min(state.detailOffset, mostDetail);
  const [pageup, pagedown] = [from - height, from + height];
  const places = { up: from - 1, down: from + 1, pageup, pagedown, home: 0, end: mostDetail };
  const to = new Map(Object.entries(places)).get(name);
  return to === undefined ? undefined : { ...state, detailOffset: Math.min(Math.max(0, to), mostDetail) };
}

function typed(state: UiState, { name, sequence = '', ctrl, meta }: Key): UiState {
  if (name === 'return' || name === 'enter') return { ...state, typing: false };
  if (name === 'escape') return { ...state, typing: false, filter: '', offset: 0 };
  if (name === 'backspace') return { ...state, filter: [...state.filter].slice(0, -1).join(''), offset: 0 };
  const printable = ctrl !== true && meta !== true && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(sequence);
  return printable ? { ...state, filter: (state.filter + sequence).slice(0, MAX_FILTER), offset: 0 } : state;
}

/** Sorts by a column. The present one reverses its order. */
export function sortedByColumn(state: UiState, sort: string): UiState {
  return { ...state, sort, reverse: sort === state.sort ? !state.reverse : false };
}

function sortedBy(state: UiState, { name = '', sequence = '' }: Key): UiState {
  const sort = SORT_LETTERS.get(sequence);
  if (sort !== undefined) return sortedByColumn(state, sort);
  const step = SORT_STEPS.get(sequence) ?? ARROW_STEPS.get(name);
  return step === undefined ? state : { ...state, sort: neighbour(state.sort, step) };
}

/** Returns the next sort key, in the order of the columns. */
function neighbour(sort: string, step: number): string {
  const at = SORT_KEYS.indexOf(sort) + step + SORT_KEYS.length;
  return SORT_KEYS[at % SORT_KEYS.length]!;
}

function nextMeasure(measure: SizeMeasure): SizeMeasure {
  return SIZE_MEASURES[(SIZE_MEASURES.indexOf(measure) + 1) % SIZE_MEASURES.length]!;
}

function longer(ms: number): number {
  return INTERVALS_MS.find((one) => one > ms) ?? ms;
}

function shorter(ms: number): number {
  return INTERVALS_MS.findLast((one) => one < ms) ?? ms;
}
