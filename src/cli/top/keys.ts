/** Keys of the screen: the state that they change, and their help. Pure. */
import type { Key } from 'node:readline';
import { SORT_KEYS, type SortKey } from './columns.js';

export const INITIAL = {
  sort: 'rate' as SortKey,
  reverse: false,
  /** Part of a name, or a glob. */
  filter: '',
  /** True while the user types the filter. */
  typing: false,
  paused: false,
  help: false,
  /** Includes old files. */
  all: false,
  /** Shows totals in place of rates. */
  totals: false,
  /** Number of rows above the first shown one. */
  offset: 0,
};

export type UiState = Readonly<typeof INITIAL>;

export interface Scrolling {
  /** Rows that fit on the screen. */
  readonly height: number;
  /** Offset at the end. */
  readonly most: number;
}

const MAX_FILTER = 100;
const TOGGLES: ReadonlyMap<string, 'reverse' | 'paused' | 'totals' | 'all' | 'help'> = new Map(
  Object.entries({ r: 'reverse', p: 'paused', ' ': 'paused', t: 'totals', a: 'all', h: 'help', '?': 'help' } as const),
);
/** Steps to another sort key, by character and by name of the key. */
const SORT_STEPS: ReadonlyMap<string, number> = new Map(Object.entries({ s: 1, '>': 1, S: -1, '<': -1 }));
const ARROW_STEPS: ReadonlyMap<string, number> = new Map(Object.entries({ right: 1, left: -1 }));

/** Returns the state after a key; undefined to end. */
export function pressed(state: UiState, key: Key, scrolling: Scrolling): UiState | undefined {
  const { name = '', sequence = '' } = key;
  if (key.ctrl === true && (name === 'c' || name === 'd')) return undefined;
  if (state.typing) return typed(state, key);
  const offset = scrollTargets(state.offset, scrolling).get(name);
  if (offset !== undefined) return { ...state, offset: Math.min(Math.max(0, offset), scrolling.most) };
  if (sequence === 'q') return undefined;
  if (sequence === '/') return { ...state, typing: true, help: false };
  if (name === 'escape') return { ...state, help: false, filter: state.help ? state.filter : '' };
  const toggle = TOGGLES.get(sequence);
  if (toggle !== undefined) return { ...state, [toggle]: !state[toggle] };
  const step = SORT_STEPS.get(sequence) ?? ARROW_STEPS.get(name);
  return step === undefined ? state : { ...state, sort: neighbour(state.sort, step) };
}

function typed(state: UiState, { name, sequence = '', ctrl, meta }: Key): UiState {
  if (name === 'return' || name === 'enter') return { ...state, typing: false };
  if (name === 'escape') return { ...state, typing: false, filter: '', offset: 0 };
  if (name === 'backspace') return { ...state, filter: [...state.filter].slice(0, -1).join(''), offset: 0 };
  const printable = ctrl !== true && meta !== true && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(sequence);
  return printable ? { ...state, filter: (state.filter + sequence).slice(0, MAX_FILTER), offset: 0 } : state;
}

function scrollTargets(offset: number, { height, most }: Scrolling): ReadonlyMap<string, number> {
  const [pageup, pagedown] = [offset - height, offset + height];
  return new Map(Object.entries({ up: offset - 1, down: offset + 1, pageup, pagedown, home: 0, end: most }));
}

/** Returns the next sort key, in the order of the columns. */
function neighbour(sort: SortKey, step: number): SortKey {
  const at = SORT_KEYS.indexOf(sort) + step + SORT_KEYS.length;
  return SORT_KEYS[at % SORT_KEYS.length]!;
}

/** Help for key h: 19 lines of at most 80 columns fit the smallest usual screen. */
export const HELP: readonly string[] = [
  '  q, Ctrl-C   quit                      up, down, PgUp, PgDn, Home, End  scroll',
  '  s, S        sort by the next or previous column; also right and left',
  '  r           reverse the order          t   totals instead of rates',
  '  /           filter by a part of the name, or by a glob with * and ?; Esc: all',
  '  p, space    pause                      a   show old files as well',
  '',
  '  TX/s RX/s   bytes that the agent wrote and read; its peers count nothing',
  '  REQ/s       finished transfers         ERR/s   failed operations',
  '  P50 to MAX  transfer times since the previous screen; P90, MAX in 132 columns',
  '  POST        p99 of the post times since the previous screen',
  '  LOST        events that the agent reported as dropped; +: its ring was full,',
  '              so more events may be lost',
  '  FILL        highest recent share of the ring that was filled',
  '  IDLE        time since the last event; dead: the process of the agent ended',
  '  TX+RX       bytes per second, newest at the right, scaled to the highest shown',
  '',
  '  Agents write rings when they run with NIXL_TELEMETRY_ENABLE=y and',
  '  NIXL_TELEMETRY_DIR=DIR, and no other exporter. top removes no events.',
  '  Totals begin at the start of top; with --url, at the start of serve.',
];
