/** Where the numbers go: to a screen, or line by line. */
import { note, printChunk } from '../process/output.js';
import type { StopRequest } from '../process/stop.js';
import type { SortKey } from './columns.js';
import { shown } from './frame.js';
import { Interactive } from './interactive.js';
import { INITIAL, type UiState } from './keys.js';
import { heading, jsonLine, textLines } from './lines.js';
import type { Source } from './totals.js';
import type { View } from './tracker.js';

export interface TopOptions {
  dir?: string[];
  url?: URL;
  /** Milliseconds. */
  interval: number;
  count?: number;
  once?: boolean;
  json?: boolean;
  sort: SortKey;
  filter?: string;
  all?: boolean;
}

export interface Output {
  readonly onScreen: boolean;
  show(view: View): Promise<void> | void;
  /** Once or twice. */
  close(): void;
}

export function outputOf(options: TopOptions, source: Source, stop: StopRequest): Output {
  const hasScreen = process.stdout.isTTY && process.env['TERM'] !== 'dumb';
  if (options.json === true || options.once === true || !hasScreen) return lineOutput(options, source);
  const interactive = new Interactive(source.name, uiSettings(options), () => stop.request());
  return { onScreen: true, show: (view) => interactive.show(view), close: () => interactive.close() };
}

/** After the first sample there are no rates, and nothing to say yet. */
function lineOutput(options: TopOptions, source: Source): Output {
  let samples = 0;
  let begun = false;
  let noted = new Set<string>();
  return {
    onScreen: false,
    show: async (view) => {
      samples++;
      if (options.json === true) {
        if (samples === 1) return;
        return printChunk(`${jsonLine(view, rowsOf(view, options), source.name)}\n`);
      }
      if (view.seconds === undefined && view.rows.length === 0) return;
      for (const text of view.notes) if (!noted.has(text)) note(text, 'warning');
      noted = new Set(view.notes);
      if (view.seconds === undefined) return;
      const [first, ...rows] = textOf(view, options);
      if (rows.length === 0) return;
      const lines = begun ? rows : [first, ...rows];
      begun = true;
      await printChunk(lines.map((line) => `${line}\n`).join(''));
    },
    close: () => {},
  };
}

export function textOf(view: View, options: TopOptions): string[] {
  return [heading(), ...textLines(view, rowsOf(view, options))];
}

function rowsOf(view: View, options: TopOptions): ReturnType<typeof shown> {
  return shown(view.rows, { ...INITIAL, ...uiSettings(options) });
}

function uiSettings({ sort, filter, all }: TopOptions): Partial<UiState> {
  return { sort, filter: filter ?? '', all: all === true };
}
