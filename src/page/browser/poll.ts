/** Asks for figures at an interval, while the page is visible and not paused. */

const USUAL_INTERVAL_MS = 1000;
const TIMEOUT_MS = 5000;
const LONGEST_SENTENCE = 100;

interface PollListener<Data> {
  /** Default: a second. */
  readonly intervalMs?: number;
  /** Asks once. Rejects without an answer. */
  readonly load: (signal: AbortSignal) => Promise<Data>;
  readonly onData: (data: Data) => void;
  readonly onFailure: (reason: string) => void;
}

export class Poll<Data> {
  readonly #listener: PollListener<Data>;
  #isPaused = false;
  #isAsking = false;
  #timer: number | undefined;

  /** Asks at once and from then on. */
  constructor(listener: PollListener<Data>) {
    this.#listener = listener;
    document.addEventListener('visibilitychange', () => this.now());
    this.now();
  }

  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.now();
  }

  /** Asks now, if it may ask at all. */
  now(): void {
    clearTimeout(this.#timer);
    if (this.#mayAsk) void this.#ask();
  }

  get #mayAsk(): boolean {
    return !this.#isPaused && !document.hidden;
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const startMs = performance.now();
    try {
      const data = await this.#listener.load(AbortSignal.timeout(TIMEOUT_MS));
      if (!this.#isPaused) this.#listener.onData(data);
    } catch (error) {
      this.#listener.onFailure(error instanceof Error ? error.message : String(error));
    } finally {
      this.#isAsking = false;
    }
    clearTimeout(this.#timer);
    const { intervalMs = USUAL_INTERVAL_MS } = this.#listener;
    if (this.#mayAsk) this.#timer = setTimeout(() => this.now(), startMs + intervalMs - performance.now());
  }
}

/** Serve does not have the path. */
export class NoSuchPath extends Error {}

/** Fetches JSON. @throws Error without an answer or with another status than 200, NoSuchPath with 404. */
export async function fetchJson<T>(url: string, signal: AbortSignal): Promise<T> {
  const response = await fetch(url, { cache: 'no-store', signal });
  if (!response.ok) {
    const reason = `status ${response.status}${await saidBy(response)}`;
    throw response.status === 404 ? new NoSuchPath(reason) : new Error(reason);
  }
  return (await response.json()) as T;
}

/** A proxy may answer with a whole page in place of a sentence. */
async function saidBy(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/plain')) return '';
  const [line = ''] = (await response.text()).split('\n', 1);
  return line === '' || line.length > LONGEST_SENTENCE ? '' : `: ${line}`;
}
