/** Keys of the screen: the state that they change, and their help. Pure. */
import { SORT_KEYS, type SortKey } from './columns.js';

export interface UiState {
  readonly sort: SortKey;
  readonly reverse: boolean;
  /** Part of a name, or a glob. */
  readonly filter: string;
  /** True while the user types the filter. */
  readonly typing: boolean;
  readonly paused: boolean;
  readonly help: boolean;
  /** Includes old files. */
  readonly all: boolean;
  /** Shows totals in place of rates. */
  readonly totals: boolean;
  /** Number of rows above the first shown one. */
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

/** A key press as node:readline reports it. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

export interface Scrolling {
  /** Rows that fit on the screen. */
  readonly height: number;
  /** Offset at the end. */
  readonly most: number;
}

const MAX_FILTER = 100;

/** Returns the state after a key; undefined to end. */
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

function scrollTarget(offset: number, { name }: Key, { height, most }: Scrolling): number | undefined {
  switch (name) {
    case 'up':
      return offset - 1;
    case 'down':
      return offset + 1;
    case 'pageup':
      return offset - height;
    case 'pagedown':
      return offset + height;
    case 'home':
      return 0;
    case 'end':
      return most;
    default:
      return undefined;
  }
}

/** Returns the next sort key, in the order of the columns. */
function neighbour(sort: SortKey, step: number): SortKey {
  const at = SORT_KEYS.indexOf(sort) + step + SORT_KEYS.length;
  return SORT_KEYS[at % SORT_KEYS.length]!;
}

/** Help for key h: 19 lines of at most 80 columns fit the smallest usual screen. */
export const HELP: readonly string[] = [
  '  q, Ctrl-C   quit                      up, down, PgUp, PgDn, Home, End  scroll',
  '  s, S        sort by the next column, by the one before; so do right and left',
  '  r           reverse the order          t   totals in place of rates',
  '  /           show only names with this in them; with * and ? a glob; Esc: all',
  '  p, space    pause                      a   old files, too',
  '',
  '  TX/s RX/s   bytes written and read by the agent; the other side counts nothing',
  '  REQ/s       transfers finished         ERR/s   operations that failed',
  '  P50 P99     of the transfer times since the last screen',
  '  POST        p99 of the time until a transfer was posted',
  '  LOST        events that the agent reports as dropped; +: its ring was full,',
  '              and a full ring counts nothing that it refuses',
  '  FILL        highest share of the ring that was found filled lately',
  '  IDLE        time since the last event; dead: the process of the agent ended',
  '  TX+RX       bytes per second, newest at the right, against the highest shown',
  '',
  '  Agents write rings when they run with NIXL_TELEMETRY_ENABLE=y and',
  '  NIXL_TELEMETRY_DIR=DIR, and no other exporter. top takes nothing out of rings.',
  '  Numbers count from the start of top; with --url, from the start of serve.',
];
