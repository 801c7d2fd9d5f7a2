/** Asks for the page's numbers once a second, while the page can be seen and is not paused. */
import type { PageData } from '../data.js';

const INTERVAL_MS = 1000;
const ANSWER_LIMIT_MS = 5000;

export interface Listener {
  onData(data: PageData): void;
  onFailure(reason: string): void;
}

export class Poll {
  #paused = false;
  #timer: number | undefined;
  #asking = false;
  readonly #url: string;
  readonly #listener: Listener;

  constructor(url: string, listener: Listener) {
    this.#url = url;
    this.#listener = listener;
    document.addEventListener('visibilitychange', () => this.#goOn());
    this.#goOn();
  }

  get paused(): boolean {
    return this.#paused;
  }

  set paused(paused: boolean) {
    this.#paused = paused;
    this.#goOn();
  }

  #goOn(): void {
    clearTimeout(this.#timer);
    if (!this.#paused && !document.hidden) void this.#ask();
  }

  async #ask(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    const askedMs = performance.now();
    try {
      const answer = await fetch(this.#url, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
      const data = (await answer.json()) as PageData;
      if (!this.#paused) this.#listener.onData(data);
    } catch (error) {
      this.#listener.onFailure(error instanceof Error ? error.message : String(error));
    } finally {
      this.#asking = false;
    }
    clearTimeout(this.#timer);
    if (this.#paused || document.hidden) return;
    this.#timer = setTimeout(() => this.#goOn(), Math.max(0, askedMs + INTERVAL_MS - performance.now()));
  }
}
