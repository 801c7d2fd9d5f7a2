const PATIENCE_MS = 2000;
const INTERVAL_MS = 200;
const SPINNER = ['|', '/', '-', '\\'];

/**
 * Lines of a program that runs steps, and below them, on a terminal, a line that moves while a step takes longer than two
 * seconds: the steps, with the seconds since their begin. Anywhere else only the lines are printed.
 */
export class Progress {
  #terminal;
  #running = new Map();
  #timer;
  #isShown = false;
  #turn = 0;

  constructor(stream) {
    this.#terminal = stream.isTTY && process.env.TERM !== 'dumb' ? stream : undefined;
  }

  /** Begins a step. @returns the function that ends it. */
  begin(label) {
    this.#running.set(label, Date.now());
    if (this.#terminal) this.#timer ??= setInterval(() => this.#show(), INTERVAL_MS);
    return () => {
      this.#running.delete(label);
      if (this.#running.size === 0) this.end();
    };
  }

  /** Prints a line above the moving one. */
  print(line, stream = process.stdout) {
    this.#clear();
    stream.write(`${line}\n`);
  }

  /** Removes the moving line. */
  end() {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#clear();
  }

  #show() {
    const now = Date.now();
    const steps = [...this.#running]
      .filter(([, begin]) => now - begin >= PATIENCE_MS)
      .map(([label, begin]) => `${label} ${Math.floor((now - begin) / 1000)} s`);
    this.#clear();
    if (steps.length === 0) return;
    const line = `${SPINNER[this.#turn++ % SPINNER.length]} ${steps.join(', ')}`;
    this.#terminal.write(line.slice(0, (this.#terminal.columns || 80) - 1));
    this.#isShown = true;
  }

  #clear() {
    if (this.#isShown) this.#terminal.write('\r\x1b[K');
    this.#isShown = false;
  }
}
