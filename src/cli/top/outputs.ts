/** Outputs of top: a screen, lines of text, or lines of JSON. */
import { oneLine, printableJson } from '../../one-line.js';
import { dateAndTime } from '../figures/formats.js';
import { fit, pad } from '../figures/table.js';
import { note, printChunk, warnOnce } from '../process/output.js';
import type { StopRequest } from '../process/stop.js';
import { agentObject } from './agent-object.js';
import { COLUMNS } from './columns.js';
import type { TopOptions } from './options.js';
import type { Pace } from './pace.js';
import { nameOf, type Selection, shown } from './selection.js';
import { overall, type Row, type Source, type View } from './tracker.js';

export interface Output {
  readonly onScreen: boolean;
  show(view: View): Promise<void> | void;
  /** May be called twice. */
  close(): void;
}

/** `pace`: may be changed by keys. */
export async function outputOf(options: TopOptions, source: Source, pace: Pace, stop: StopRequest): Promise<Output> {
  const hasScreen = process.stdout.isTTY && process.env['TERM'] !== 'dumb';
  if (options.json === true || options.once === true || !hasScreen) return lineOutput(options, source.name);
  const { Screen } = await import('./screen/screen.js');
  const screen = new Screen(source, options, pace, () => stop.request());
  return { onScreen: true, show: (view) => screen.show(view), close: () => screen.close() };
}

/** Prints nothing for the first sample: it has no rates. */
function lineOutput(options: TopOptions, origin: string): Output {
  let samples = 0;
  let hasHeading = false;
  let noted = new Set<string>();
  const warn = warnOnce();
  /** An output without a line looks as if there were no rings. */
  const noteEmpty = ({ rows }: View): void => {
    if (rows.length === 0) return;
    const old = shown(rows, { ...selectionOf(options), all: true }).length;
    const files = old === 1 ? '1 old file' : `${old} old files`;
    warn(old > 0 ? `${files} without a writer: --all shows them` : `no agent matches ${options.filter}`);
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
      const [heading, ...rows] = textOf(view, options);
      if (rows.length === 0) return noteEmpty(view);
      const lines = hasHeading ? rows : [heading, ...rows];
      hasHeading = true;
      await printChunk(lines.map((line) => `${line}\n`).join(''));
    },
    close: () => {},
  };
}

function rowsOf(view: View, options: TopOptions): Row[] {
  return shown(view.rows, selectionOf(options));
}

function selectionOf({ sort = 'rate', filter = '', all = false }: TopOptions): Selection {
  return { sort, reverse: false, filter, all, totals: false };
}

const NAME_WIDTH = 24;
const TIME_WIDTH = 19;

/** Returns a heading and a line per agent. Names are whole: a program that reads lines may need them. */
export function textOf(view: View, options: TopOptions): string[] {
  const headings = COLUMNS.map(({ heading, width }) => fit(heading, width, 'right'));
  const time = dateAndTime(new Date(view.takenMs));
  const lines = rowsOf(view, options).map((row) => {
    const columns = COLUMNS.map(({ text, width }) => fit(text(row), width, 'right'));
    return [time, pad(oneLine(nameOf(row)), NAME_WIDTH), ...columns].join(' ');
  });
  return [[fit('TIME', TIME_WIDTH), fit('AGENT', NAME_WIDTH), ...headings].join(' '), ...lines];
}

/** Returns one object: bytes and events per second, microseconds, null for unknown values. */
function jsonLine(view: View, rows: readonly Row[], origin: string): string {
  const { tx, rx, requests, errors, lost, lostMore } = overall(rows);
  return printableJson({
    time: new Date(view.takenMs).toISOString(),
    source: origin,
    seconds: view.seconds ?? null,
    txBytesPerSecond: tx ?? null,
    rxBytesPerSecond: rx ?? null,
    requestsPerSecond: requests ?? null,
    errorsPerSecond: errors ?? null,
    lost,
    lostMore,
    notes: view.notes,
    agents: rows.map(agentObject),
  });
}
