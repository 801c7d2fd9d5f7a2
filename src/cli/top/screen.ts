/** The terminal of top: frames, keys, and its restored state after every kind of end. */
import { writeSync } from 'node:fs';
import { emitKeypressEvents, type Key } from 'node:readline';
import { widthOf } from '../figures/table.js';
import { frame, type Piece, type Style } from './frame.js';
import { pressed, type Scrolling, type UiState } from './keys.js';
import type { View } from './tracker.js';

/** Switches to the alternate screen, without a cursor and without line wrap. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const LEAVE = '\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l';
/** Synchronised updates: terminals with this feature show only whole frames. */
const BEGIN_FRAME = '\x1b[?2026h';
const END_FRAME = '\x1b[?2026l';

const CODES: Readonly<Record<Style, string>> = { plain: '', bold: '1', dim: '2', inverse: '7', warn: '33', bad: '31' };
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

export class Screen {
  readonly #origin: string;
  readonly #unicode = supportsUnicode();
  /** False with NO_COLOR, and on terminals without colours. */
  readonly #colour = process.stdout.hasColors();
  readonly #end: () => void;
  #state: UiState;
  #scrolling: Scrolling = { height: 0, most: 0 };
  #newest: View | undefined;
  #shown: View | undefined;
  #entered = false;

  /** `end`: the action of key q, and of a terminal that is closed. */
  constructor(origin: string, state: UiState, end: () => void) {
    this.#origin = origin;
    this.#state = state;
    this.#end = end;
    process.on('exit', this.#leave);
    process.on('uncaughtExceptionMonitor', this.#leave); // before the error is printed
    process.on('SIGTSTP', this.#suspend);
    process.on('SIGCONT', this.#resume);
    process.stdout.on('resize', this.#draw);
    if (process.stdin.isTTY) {
      emitKeypressEvents(process.stdin);
      process.stdin.on('keypress', this.#onKeypress).on('end', this.#end).on('error', this.#end);
    }
    this.#enter();
  }

  show(view: View): void {
    this.#newest = view;
    this.#draw();
  }

  close(): void {
    this.#leave();
    process.off('exit', this.#leave).off('uncaughtExceptionMonitor', this.#leave);
    process.off('SIGTSTP', this.#suspend).off('SIGCONT', this.#resume);
    process.stdout.off('resize', this.#draw);
    process.stdin.off('keypress', this.#onKeypress).off('end', this.#end).off('error', this.#end);
  }

  readonly #draw = (): void => {
    if (!this.#state.paused || this.#shown === undefined) this.#shown = this.#newest;
    if (this.#shown === undefined) return;
    const columns = process.stdout.columns || DEFAULT_COLUMNS;
    const rows = process.stdout.rows || DEFAULT_ROWS;
    const surroundings = { columns, rows, origin: this.#origin, unicode: this.#unicode };
    const { lines, scrolling } = frame(this.#shown, this.#state, surroundings);
    this.#scrolling = scrolling;
    // A terminal that is too slow for this frame gets a later one.
    if (!this.#entered || process.stdout.writableNeedDrain) return;
    const text = lines.map((line, i) => {
      // After a full line the cursor is on the last character, which the code would erase.
      const width = line.reduce((sum, piece) => sum + widthOf(piece.text), 0);
      const rest = width < columns ? '\x1b[K' : '';
      return `\x1b[${i + 1};1H${line.map((piece) => this.#styled(piece)).join('')}${rest}`;
    });
    process.stdout.write(`${BEGIN_FRAME}${text.join('')}${END_FRAME}`);
  };

  #styled({ text, style }: Piece): string {
    const code = this.#colour ? CODES[style] : '';
    return code === '' ? text : `\x1b[${code}m${text}\x1b[0m`;
  }

  #enter(): void {
    if (this.#entered) return;
    this.#entered = true;
    if (process.stdin.isTTY) {
      process.stdin.setRawMode(true);
      process.stdin.resume();
    }
    process.stdout.write(ENTER);
  }

  /** Restores the terminal. Runs also while the process ends: it must not wait, and must not throw if the terminal was closed. */
  readonly #leave = (): void => {
    if (!this.#entered) return;
    this.#entered = false;
    try {
      writeSync(process.stdout.fd, LEAVE);
    } catch {
      // a closed terminal needs no restoring
    }
    try {
      if (process.stdin.isTTY) {
        process.stdin.setRawMode(false);
        process.stdin.pause();
      }
    } catch {
      // as above
    }
  };

  readonly #suspend = (): void => {
    this.#leave();
    process.kill(process.pid, 'SIGSTOP');
  };

  readonly #resume = (): void => {
    this.#enter();
    this.#draw();
  };

  readonly #onKeypress = (_: string | undefined, key: Key): void => {
    // Signals the whole job, as the terminal would: a parent such as npm stops, too.
    if (key.ctrl === true && key.name === 'z') return void process.kill(0, 'SIGTSTP');
    const state = pressed(this.#state, key, this.#scrolling);
    if (state === undefined) return this.#end();
    this.#state = state;
    this.#draw();
  };
}

/** Returns false if the locale has no Unicode, which has bars of eight heights. */
function supportsUnicode(): boolean {
  const { env } = process;
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || 'UTF-8';
  return /utf-?8/i.test(locale);
}
