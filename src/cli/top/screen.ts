/** The terminal while top has it: drawn on, listened to, and given back as it was on every way out. */
import { writeSync } from 'node:fs';
import { emitKeypressEvents } from 'node:readline';
import type { Line, Style } from './frame.js';
import type { Key } from './keys.js';
import { widthOf } from './text.js';

export interface ScreenEvents {
  onKey(key: Key): void;
  /** What is on the screen is gone or has another size now. */
  onRedraw(): void;
  /** The terminal is gone. */
  onGone(): void;
}

/** Another screen, which leaves the user's own untouched; no cursor; no wrapping of lines. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const LEAVE = '\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l';
/** Terminals that know these show a frame when it is whole. */
const BEGIN_FRAME = '\x1b[?2026h';
const END_FRAME = '\x1b[?2026l';

const CODES: Readonly<Record<Style, string>> = { plain: '', bold: '1', dim: '2', inverse: '7', warn: '33', bad: '31' };
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

export class Screen {
  readonly #events: ScreenEvents;
  /** NO_COLOR and terminals without colours. */
  readonly #colour = process.stdout.hasColors();
  #entered = false;

  constructor(events: ScreenEvents) {
    this.#events = events;
    process.on('exit', this.#leave);
    process.on('uncaughtExceptionMonitor', this.#leave); // before the error is printed
    process.on('SIGTSTP', this.#suspend);
    process.on('SIGCONT', this.#resume);
    process.stdout.on('resize', this.#redraw);
    if (process.stdin.isTTY) {
      emitKeypressEvents(process.stdin);
      process.stdin.on('keypress', this.#onKeypress).on('end', this.#gone).on('error', this.#gone);
    }
    this.#enter();
  }

  get columns(): number {
    return process.stdout.columns || DEFAULT_COLUMNS;
  }

  get rows(): number {
    return process.stdout.rows || DEFAULT_ROWS;
  }

  paint(lines: readonly Line[]): void {
    // A terminal that takes nothing just now gets the next frame.
    if (!this.#entered || process.stdout.writableNeedDrain) return;
    const text = lines.map((line, i) => {
      // Behind a full line the cursor stands on its last character, which would be erased.
      const width = line.reduce((sum, piece) => sum + widthOf(piece.text), 0);
      const rest = width < this.columns ? '\x1b[K' : '';
      return `\x1b[${i + 1};1H${line.map((piece) => this.#styled(piece.text, piece.style)).join('')}${rest}`;
    });
    process.stdout.write(`${BEGIN_FRAME}${text.join('')}${END_FRAME}`);
  }

  close(): void {
    this.#leave();
    process.off('exit', this.#leave).off('uncaughtExceptionMonitor', this.#leave);
    process.off('SIGTSTP', this.#suspend).off('SIGCONT', this.#resume);
    process.stdout.off('resize', this.#redraw);
    process.stdin.off('keypress', this.#onKeypress).off('end', this.#gone).off('error', this.#gone);
  }

  #styled(text: string, style: Style): string {
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

  /** Also runs while the process ends: nothing here may wait, or throw because the terminal is gone. */
  readonly #leave = (): void => {
    if (!this.#entered) return;
    this.#entered = false;
    try {
      writeSync(process.stdout.fd, LEAVE);
    } catch {
      // whoever closed it restores it
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
    this.#redraw();
  };

  readonly #redraw = (): void => this.#events.onRedraw();

  readonly #gone = (): void => this.#events.onGone();

  readonly #onKeypress = (_: string | undefined, key: Key): void => {
    // To the whole job, as the terminal would: whoever started us, npm say, stops with us.
    if (key.ctrl === true && key.name === 'z') process.kill(0, 'SIGTSTP');
    else this.#events.onKey(key);
  };
}

/** Whether bars of eight heights can be shown: unless the locale says otherwise, as terminals do that far. */
export function speaksUnicode(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || 'UTF-8';
  return /utf-?8/i.test(locale);
}
