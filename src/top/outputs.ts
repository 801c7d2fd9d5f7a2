/** Outputs of top: a screen, lines of text, or lines of JSON. */
import { oneLine, printableJson } from '../ground/one-line.js';
import { dateAndTime } from '../ground/figures/clock.js';
import { plural } from '../ground/figures/figure.js';
import { fit, pad } from '../view/figures/table.js';
import { note, printChunk, warnOnce } from '../process/output.js';
import type { StopRequest } from '../process/stop.js';
import { agentObject } from './agent-object.js';
import { LINE_COLUMNS } from './columns.js';
import type { TopOptions } from './options.js';
import type { Pace } from './pace.js';
import { fullNameOf, type Selection, shownRows } from './selection.js';
import { overall, type TopRow, type SampleSource, type FleetView } from './tracker.js';

export interface TopOutput {
  readonly onScreen: boolean;
  show(view: FleetView): Promise<void> | void;
  /** May be called twice. */
  close(): void;
}

/** `pace`: may be changed by keys. */
export async function outputOf(
  options: TopOptions,
  source: SampleSource,
  pace: Pace,
  stop: StopRequest,
): Promise<TopOutput> {
  const hasScreen = process.stdout.isTTY && process.env['TERM'] !== 'dumb';
  if (options.json === true || options.once === true || !hasScreen) return lineOutput(options, source.name);
  const { Screen } = await import('./screen/screen.js');
  const screen = new Screen(source, options, pace, () => stop.request());
  return { onScreen: true, show: (view) => screen.show(view), close: () => screen.close() };
}

/** Prints nothing for the first sample: it has no rates. */
function lineOutput(options: TopOptions, origin: string): TopOutput {
  let samples = 0;
  let hasHeading = false;
  let noted = new Set<string>();
  const warn = warnOnce();
  /** An output without a line looks as if there were no rings. */
  const noteEmpty = ({ rows }: FleetView): void => {
    if (rows.length === 0) return;
    const old = shownRows(rows, { ...selectionOf(options), all: true }).length;
    warn(
      old > 0 ? `${plural(old, 'old file')} without a writer: --all shows them` : `no agent matches ${options.filter}`,
    );
  };
  return {
    onScreen: false,
    show: async (view) => {
      samples++;
      if (options.json === true) {
        if (samples === 1) return;
        return printChunk(`${jsonLine(view, rowsOf(view, options), origin)}\n`);
      }
      if (view.seconds === undefined && view.rows.length === 0) return;
      for (const text of view.notes) if (!noted.has(text)) note(text, 'warning');
      noted = new Set(view.notes);
      if (view.seconds === undefined) return;
      const [heading, ...rows] = tableText(view, options);
      if (rows.length === 0) return noteEmpty(view);
      const lines = hasHeading ? rows : [heading, ...rows];
      hasHeading = true;
      await printChunk(lines.map((line) => `${line}\n`).join(''));
    },
    close: () => {},
  };
}

function rowsOf(view: FleetView, options: TopOptions): TopRow[] {
  return shownRows(view.rows, selectionOf(options));
}

function selectionOf({ sort = 'rate', filter = '', all = false }: TopOptions): Selection {
  return { sort, reverse: false, filter, all, totals: false };
}

const NAME_WIDTH = 24;
const TIME_WIDTH = 19;

/** Returns a heading and a line per agent for programs: names are whole, and no blank divides a number and its unit. */
export function tableText(view: FleetView, options: TopOptions): string[] {
  const headings = LINE_COLUMNS.map(({ heading, width }) => fit(heading, width, 'right'));
  const time = dateAndTime(view.takenMs);
  const lines = rowsOf(view, options).map((row) => {
    const columns = LINE_COLUMNS.map(({ text, width }) => fit(text(row).replaceAll(' ', ''), width, 'right'));
    return [time, pad(oneLine(fullNameOf(row)), NAME_WIDTH), ...columns].join(' ');
  });
  return [[fit('TIME', TIME_WIDTH), fit('AGENT', NAME_WIDTH), ...headings].join(' '), ...lines];
}

/** Returns one object: bytes and events per second, microseconds, null for unknown values. */
function jsonLine(view: FleetView, rows: readonly TopRow[], origin: string): string {
  const { lost, lostMore, ...rates } = overall(rows);
  return printableJson({
    time: new Date(view.takenMs).toISOString(),
    source: origin,
    seconds: view.seconds ?? null,
    txBytesPerSecond: rates.txBytesPerSecond ?? null,
    rxBytesPerSecond: rates.rxBytesPerSecond ?? null,
    requestsPerSecond: rates.requestsPerSecond ?? null,
    errorsPerSecond: rates.errorsPerSecond ?? null,
    lost,
    lostMore,
    notes: view.notes,
    agents: rows.map(agentObject),
  });
}
