/** Table as wide as a terminal: names are cut in the middle, states at the end, columns of less use left out. Pure. */
import { cutMiddle } from '../../view/figures/cut-middle.js';
import { cut, table, widthOf } from '../../view/figures/table.js';

export interface FittedColumn {
  readonly key: string;
  readonly heading: string;
  /** Columns with larger numbers are left out first. Absent for columns that always show. */
  readonly leaveOut?: number;
}

const GAP = 2;
/** Columns that the first and the last text keep before another column is left out. */
const LEAST_NAME = 20;
const LEAST_STATE = 20;

/** Returns the table. `shown`: key of a column that is not left out. */
export function fittedTable(
  columns: readonly FittedColumn[],
  rows: readonly (readonly string[])[],
  width: number,
  shown?: string,
): string {
  const widths = columns.map(({ heading }, i) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[i]!)), widthOf(heading)),
  );
  const [first, last] = [0, columns.length - 1];
  const [name, state] = [widths[first]!, widths[last]!];
  const [leastName, leastState] = [Math.min(name, LEAST_NAME), Math.min(state, LEAST_STATE)];
  const kept = new Set(columns.keys());
  // Room for the name and the state.
  const roomLeft = (): number =>
    [...kept].reduce((room, i) => room - GAP - (i === first || i === last ? 0 : widths[i]!), width + GAP);
  const leaving = [...columns.keys()]
    .filter((i) => columns[i]!.leaveOut !== undefined && columns[i]!.key !== shown)
    .sort((a, b) => columns[b]!.leaveOut! - columns[a]!.leaveOut!);
  for (const i of leaving) {
    if (roomLeft() >= leastName + leastState) break;
    kept.delete(i);
  }
  const room = Math.max(0, roomLeft());
  const nameWidth = Math.min(name, Math.max(room - leastState, Math.floor(room / 2)));
  const fitted = (text: string, i: number): string => {
    if (i === first) return cutMiddle(text, nameWidth);
    return i === last ? cut(text, room - nameWidth) : text;
  };
  const line = (texts: readonly string[]): string[] => [...kept].map((i) => fitted(texts[i]!, i));
  return table(line(columns.map(({ heading }) => heading)), rows.map(line));
}
