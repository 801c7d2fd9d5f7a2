/** The theme: that of the system, or the one that the reader chose, which this browser remembers. */
import { forgetColours } from './charts/colours.js';
import { setAttribute } from './common/dom.js';

const KEY = 'nixl-otel-theme';
const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

export class ThemeSwitch {
  readonly #button: HTMLElement;
  readonly #onChange: () => void;
  #theme: Theme;

  constructor(button: HTMLElement, onChange: () => void) {
    this.#button = button;
    this.#onChange = onChange;
    this.#theme = THEMES.find((theme) => theme === remembered()) ?? 'system';
    this.#apply();
    button.addEventListener('click', () => this.next());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#apply());
  }

  /** Changes to the next theme: system, light, dark. */
  next(): void {
    this.#theme = THEMES[(THEMES.indexOf(this.#theme) + 1) % THEMES.length]!;
    remember(this.#theme);
    this.#apply();
  }

  #apply(): void {
    if (this.#theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = this.#theme;
    const text = `Theme: ${this.#theme} (t)`;
    setAttribute(this.#button, 'aria-label', text);
    setAttribute(this.#button, 'title', text);
    forgetColours();
    this.#onChange();
  }
}

/** A browser may forbid the storage, and throws then. */
function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Then the theme lasts until the page is closed.
  }
}
