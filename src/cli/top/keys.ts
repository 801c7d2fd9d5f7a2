/** What the user set by keys, and what each key does. Pure. */
import { SORT_KEYS, type SortKey } from './columns.js';

export interface UiState {
  readonly sort: SortKey;
  readonly reverse: boolean;
  /** Part of a name, or a glob. */
  readonly filter: string;
  /** The filter is being typed. */
  readonly typing: boolean;
  readonly paused: boolean;
  readonly help: boolean;
  /** Old files, too. */
  readonly all: boolean;
  /** Totals in place of rates. */
  readonly totals: boolean;
  /** Rows that were scrolled away. */
  readonly offset: number;
}

export const INITIAL: UiState = {
  sort: 'rate',
  reverse: false,
  filter: '',
  typing: false,
  paused: false,
  help: false,
  all: false,
  totals: false,
  offset: 0,
};

/** As node:readline tells it. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

export interface Scrolling {
  /** Rows that there is room for. */
  readonly page: number;
  /** Scrolled to the end. */
  readonly most: number;
}

const MAX_FILTER = 100;

/** @returns undefined to end. */
export function pressed(state: UiState, key: Key, scrolling: Scrolling): UiState | undefined {
  if (key.ctrl === true && (key.name === 'c' || key.name === 'd')) return undefined;
  if (state.typing) return typed(state, key);
  const scrolled = scrollTarget(state.offset, key, scrolling);
  if (scrolled !== undefined) return { ...state, offset: Math.min(Math.max(0, scrolled), scrolling.most) };
  switch (key.sequence) {
    case 'q':
      return undefined;
    case 's':
    case '>':
      return { ...state, sort: neighbour(state.sort, 1) };
    case 'S':
    case '<':
      return { ...state, sort: neighbour(state.sort, -1) };
    case 'r':
      return { ...state, reverse: !state.reverse };
    case '/':
      return { ...state, typing: true, help: false };
    case 'p':
    case ' ':
      return { ...state, paused: !state.paused };
    case 't':
      return { ...state, totals: !state.totals };
    case 'a':
      return { ...state, all: !state.all };
    case 'h':
    case '?':
      return { ...state, help: !state.help };
  }
  switch (key.name) {
    case 'right':
      return { ...state, sort: neighbour(state.sort, 1) };
    case 'left':
      return { ...state, sort: neighbour(state.sort, -1) };
    case 'escape':
      return { ...state, help: false, filter: state.help ? state.filter : '' };
  }
  return state;
}

function typed(state: UiState, { name, sequence = '', ctrl, meta }: Key): UiState {
  if (name === 'return' || name === 'enter') return { ...state, typing: false };
  if (name === 'escape') return { ...state, typing: false, filter: '', offset: 0 };
  if (name === 'backspace') return { ...state, filter: [...state.filter].slice(0, -1).join(''), offset: 0 };
  const printable = ctrl !== true && meta !== true && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(sequence);
  return printable ? { ...state, filter: (state.filter + sequence).slice(0, MAX_FILTER), offset: 0 } : state;
}

function scrollTarget(offset: number, { name }: Key, { page, most }: Scrolling): number | undefined {
  switch (name) {
    case 'up':
      return offset - 1;
    case 'down':
      return offset + 1;
    case 'pageup':
      return offset - page;
    case 'pagedown':
      return offset + page;
    case 'home':
      return 0;
    case 'end':
      return most;
    default:
      return undefined;
  }
}

/** In the order in which the columns stand. */
function neighbour(sort: SortKey, step: number): SortKey {
  const at = SORT_KEYS.indexOf(sort) + step + SORT_KEYS.length;
  return SORT_KEYS[at % SORT_KEYS.length]!;
}
