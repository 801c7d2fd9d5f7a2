/** The screen, the keys and the numbers put together. */
import { frame, type Frame } from './frame.js';
import { INITIAL, type Key, pressed, type UiState } from './keys.js';
import { Screen, speaksUnicode } from './screen.js';
import type { View } from './tracker.js';

const NO_SCROLLING: Frame['scrolling'] = { page: 0, most: 0 };

export class Interactive {
  readonly #screen: Screen;
  readonly #source: string;
  readonly #unicode = speaksUnicode();
  readonly #end: () => void;
  #state: UiState;
  #scrolling = NO_SCROLLING;
  #newest: View | undefined;
  #shown: View | undefined;

  /** `end`: what q does. */
  constructor(source: string, settings: Partial<UiState>, end: () => void) {
    this.#source = source;
    this.#state = { ...INITIAL, ...settings };
    this.#end = end;
    this.#screen = new Screen({ onKey: (key) => this.#press(key), onRedraw: () => this.#draw(), onGone: end });
  }

  show(view: View): void {
    this.#newest = view;
    this.#draw();
  }

  close(): void {
    this.#screen.close();
  }

  #press(key: Key): void {
    const state = pressed(this.#state, key, this.#scrolling);
    if (state === undefined) return this.#end();
    this.#state = state;
    this.#draw();
  }

  #draw(): void {
    if (!this.#state.paused || this.#shown === undefined) this.#shown = this.#newest;
    if (this.#shown === undefined) return;
    const { columns, rows } = this.#screen;
    const { lines, scrolling } = frame(this.#shown, this.#state, {
      columns,
      rows,
      source: this.#source,
      unicode: this.#unicode,
    });
    this.#scrolling = scrolling;
    this.#screen.paint(lines);
  }
}
