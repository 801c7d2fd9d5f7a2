/** Thread that compares passwords: it starts when it is needed, and ends when it has been idle for a while. */
import { Worker } from 'node:worker_threads';
import type { Comparison } from './password-worker.js';

/** The thread has some megabytes, and right passwords are known after their first comparison. */
const IDLE_MS = 10_000;

export class PasswordThread {
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** Waits until the thread runs, so that its start is no part of a comparison's time. Rejects if the thread ends. */
  async start(): Promise<void> {
    clearTimeout(this.#idle);
    if (this.#worker !== undefined) return;
    this.#worker = new Worker(new URL('password-worker.js', import.meta.url));
    this.#worker.unref();
    await this.#answer(this.#worker);
  }

  /** Needs a start. Rejects if the thread ends. */
  compare(comparison: Comparison): Promise<boolean> {
    const worker = this.#worker!;
    const answer = this.#answer(worker);
    worker.postMessage(comparison);
    return answer;
  }

  rest(): void {
    this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
  }

  close(): void {
    clearTimeout(this.#idle);
    void this.#worker?.terminate();
    this.#worker = undefined;
  }

  #answer(worker: Worker): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const done = (): void => void worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      const onMessage = (answer: boolean): void => {
        done();
        resolve(answer);
      };
      const onError = (error: Error): void => {
        done();
        if (this.#worker === worker) this.#worker = undefined;
        reject(error);
      };
      const onExit = (): void => onError(new Error('the thread that compares passwords has ended'));
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    });
  }
}
