/** The mouse: reports of a terminal in SGR mode, and what they change. Pure. */
import { type Shown, sortedByColumn, type UiState } from './keys.js';

/** Reports of buttons and of the wheel. While they are on, most terminals select text with Shift. */
export const MOUSE_ON = '\x1b[?1000h\x1b[?1006h';
export const MOUSE_OFF = '\x1b[?1006l\x1b[?1000l';

/** Place on the screen, from 0. */
export interface MouseReport {
  readonly kind: 'click' | 'wheelUp' | 'wheelDown';
  readonly column: number;
  readonly row: number;
}

const REPORT = /\x1b\[<(\d+);(\d+);(\d+)([Mm])/g; // eslint-disable-line no-control-regex
const BEGINNING = /\x1b(?:\[(?:<[\d;]*)?)?$/; // eslint-disable-line no-control-regex
const KINDS: ReadonlyMap<string, MouseReport['kind']> = new Map([
  ['0', 'click'],
  ['64', 'wheelUp'],
  ['65', 'wheelDown'],
]);
/** Rows of one step of the wheel. */
const STEP = 3;

export interface Input {
  /** All but the reports. */
  readonly keys: string;
  readonly reports: readonly MouseReport[];
  /** Beginning of a report: the end has not been read yet. */
  readonly rest: string;
}

/** Separates what the terminal sent. A single Esc is a key. */
export function separated(text: string): Input {
  const reports: MouseReport[] = [];
  const keys = text.replace(REPORT, (_, button: string, column: string, row: string, end: string) => {
    const kind = end === 'M' ? KINDS.get(button) : undefined;
    if (kind !== undefined) reports.push({ kind, column: Number(column) - 1, row: Number(row) - 1 });
    return '';
  });
  const rest = BEGINNING.exec(keys)?.[0] ?? '';
  return rest.startsWith('\x1b[<') ? { keys: keys.slice(0, -rest.length), reports, rest } : { keys, reports, rest: '' };
}

export function pointed(before: UiState, report: MouseReport, shown: Shown): UiState {
  const state = before.said === '' ? before : { ...before, said: '' };
  if (state.typing || state.help) return state;
  if (report.kind === 'click') return clicked(state, report, shown);
  const step = report.kind === 'wheelUp' ? -STEP : STEP;
  if (state.doctor || state.detail) {
    return { ...state, detailOffset: limited(state.detailOffset + step, shown.mostDetail) };
  }
  const at = state.cursor === undefined ? -1 : shown.ids.indexOf(state.cursor);
  const cursor = at === -1 ? undefined : shown.ids[limited(at + step, shown.ids.length - 1)];
  return { ...state, cursor: cursor ?? state.cursor, offset: limited(state.offset + step, shown.most) };
}

/** A click on a heading sorts, as its letter; on a row it moves the cursor there, and opens the agent that has it. */
function clicked(state: UiState, { column, row }: MouseReport, { ids, table }: Shown): UiState {
  if (table === undefined) return state;
  if (row === table.line - 1) {
    const heading = table.headings.find(({ from, to }) => column >= from && column < to);
    return heading === undefined ? state : sortedByColumn(state, heading.key);
  }
  const id = row < table.line || row >= table.line + table.count ? undefined : ids[table.first + row - table.line];
  if (id === undefined) return state;
  if (id === state.cursor) return { ...state, detail: true, detailOffset: 0 };
  return { ...state, cursor: id, offset: table.first };
}

function limited(value: number, most: number): number {
  return Math.min(Math.max(0, value), Math.max(0, most));
}
