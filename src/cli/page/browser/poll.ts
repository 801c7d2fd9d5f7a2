/** Fetches the data once a second, while the page is visible and not paused. */
import type { PageData } from '../data.js';

const INTERVAL_MS = 1000;
const TIMEOUT_MS = 5000;

interface Listener {
  onData(data: PageData): void;
  onFailure(reason: string): void;
}

export class Poll {
  #paused = false;
  #timer: number | undefined;
  #fetching = false;
  readonly #url: string;
  readonly #listener: Listener;

  constructor(url: string, listener: Listener) {
    this.#url = url;
    this.#listener = listener;
    document.addEventListener('visibilitychange', () => this.#resume());
    this.#resume();
  }

  get paused(): boolean {
    return this.#paused;
  }

  set paused(paused: boolean) {
    this.#paused = paused;
    this.#resume();
  }

  #resume(): void {
    clearTimeout(this.#timer);
    if (!this.#paused && !document.hidden) void this.#fetch();
  }

  async #fetch(): Promise<void> {
    if (this.#fetching) return;
    this.#fetching = true;
    const startMs = performance.now();
    try {
      const response = await fetch(this.#url, { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const data = (await response.json()) as PageData;
      if (!this.#paused) this.#listener.onData(data);
    } catch (error) {
      this.#listener.onFailure(error instanceof Error ? error.message : String(error));
    } finally {
      this.#fetching = false;
    }
    clearTimeout(this.#timer);
    if (this.#paused || document.hidden) return;
    this.#timer = setTimeout(() => this.#resume(), Math.max(0, startMs + INTERVAL_MS - performance.now()));
  }
}
