/** `list --watch`: repaints the table on a terminal, prints a block per interval elsewhere. */
import { oneLine } from '../../ground/one-line.js';
import { dateAndTime } from '../../ground/figures/clock.js';
import { plural } from '../../ground/figures/figure.js';
import { cut } from '../../view/figures/table.js';
import { onStdoutClosed, printChunk, warnOnce } from '../../process/output.js';
import { StopRequest } from '../../process/stop.js';
import type { Complain } from '../../view/rings/ring-files.js';

export interface WatchOptions {
  readonly intervalMs: number;
  /** Ends the heading, after the number of rings; undefined for blocks without a heading. */
  readonly place: string | undefined;
}

const CLEAR = '\x1b[2J';
const TOP = '\x1b[H';
const CLEAR_REST_OF_LINE = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** Repeats until a stop is requested. */
export async function watchList<Row>(
  rowsNow: (complain: Complain) => Row[],
  textOf: (rows: readonly Row[]) => string,
  { intervalMs, place }: WatchOptions,
): Promise<void> {
  const stop = new StopRequest();
  onStdoutClosed(() => stop.request());
  const warn = warnOnce();
  const onScreen = process.stdout.isTTY && place !== undefined;
  let redraw = (): void => {};
  const onResize = (): void => redraw();
  process.stdout.on('resize', onResize);
  if (onScreen) process.stdout.write(CLEAR);
  try {
    for (let nextMs = performance.now(); !stop.isRequested; await stop.pause(nextMs - performance.now())) {
      // Blocks keep their schedule without drift. A block that would be late by an interval is left out.
      nextMs = Math.max(nextMs + intervalMs, performance.now());
      const complaints = new Set<string>();
      const rows = rowsNow(({ text }) => complaints.add(text));
      const heading =
        place === undefined ? undefined : `${dateAndTime(Date.now())} · ${plural(rows.length, 'ring')}${place}`;
      if (onScreen) {
        redraw = () => repaint([heading!, ...complaints, ...(rows.length > 0 ? textOf(rows).split('\n') : [])]);
        redraw();
        continue;
      }
      for (const complaint of complaints) warn(complaint);
      const block = [...(heading === undefined ? [] : [oneLine(heading)]), ...(rows.length > 0 ? [textOf(rows)] : [])];
      const end = heading === undefined ? '\n' : '\n\n';
      if (block.length > 0) await printChunk(block.join('\n') + end);
    }
  } finally {
    process.stdout.off('resize', onResize);
    stop.dispose();
  }
}

/** Fills the screen with these lines, and says how many have no room. A line without room at its right is cut. */
function repaint(lines: readonly string[]): void {
  if (process.stdout.writableNeedDrain) return; // a terminal that is too slow for this frame gets a later one
  const columns = process.stdout.columns || DEFAULT_COLUMNS;
  const room = (process.stdout.rows || DEFAULT_ROWS) - 1; // the cursor stays below the last line
  const fitting = lines.length <= room ? lines : lines.slice(0, room - 1);
  const hidden = lines.length - fitting.length;
  const all = hidden === 0 ? fitting : [...fitting, `${hidden} more: --sort and --filter decide what is shown`];
  const painted = all.map((line) => `${cut(oneLine(line), columns)}${CLEAR_REST_OF_LINE}\n`).join('');
  process.stdout.write(`${TOP}${painted}${CLEAR_BELOW}`);
}
