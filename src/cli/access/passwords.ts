/** Comparisons of passwords with bcrypt hashes, on one thread and one after the other, with a limit on those that wait. */
import { createHmac, randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Comparison } from './password-worker.js';

const MAX_WAITING = 16;
/** Others get a turn while one client, with all of its addresses, tries passwords. */
const MAX_WAITING_PER_CLIENT = 4;
const MAX_KNOWN = 128;
/** The thread has some megabytes, and right passwords are known after their first comparison. */
const IDLE_MS = 10_000;

export class Passwords {
  #users: ReadonlyMap<string, string> = new Map();
  /** Users, hashes and passwords that belong together, under a key of this process: no password stays in memory. */
  readonly #known = new Set<string>();
  readonly #secret = randomBytes(32);
  /** Equal comparisons that were asked for at the same time, as by a browser that loads a page, are one. */
  readonly #running = new Map<string, Promise<boolean>>();
  readonly #waitingOf = new Map<string, number>();
  #last: Promise<unknown> = Promise.resolve();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  use(users: ReadonlyMap<string, string>): void {
    this.#users = users;
  }

  /**
   * An unknown user costs the same time as a wrong password. `client`: its network, see networkOf(). Returns `busy` if too
   * many comparisons wait. Rejects if the thread ends.
   */
  check(user: string, password: string, client: string): 'right' | 'busy' | Promise<'right' | 'wrong'> {
    const own = this.#users.get(user);
    const hash = own ?? this.#slowestHash;
    const key = createHmac('sha256', this.#secret)
      .update(JSON.stringify([user, hash, password]))
      .digest('base64');
    if (own !== undefined && this.#known.has(key)) return 'right';
    const running = this.#running.get(key) ?? this.#begin(key, { password, hash }, client);
    if (running === undefined) return 'busy';
    return running.then((isEqual) => {
      if (!isEqual || own === undefined || this.#users.get(user) !== own) return 'wrong';
      if (this.#known.size >= MAX_KNOWN) this.#known.delete(this.#known.values().next().value!);
      this.#known.add(key);
      return 'right';
    });
  }

  close(): void {
    clearTimeout(this.#idle);
    void this.#worker?.terminate();
    this.#worker = undefined;
  }

  /** The first two digits after `$2b$` are the cost. */
  get #slowestHash(): string {
    const costOf = (hash: string): number => Number(hash.slice(4, 6));
    return [...this.#users.values()].reduce((slowest, hash) => (costOf(hash) > costOf(slowest) ? hash : slowest));
  }

  /** Returns undefined if too many wait. */
  #begin(key: string, comparison: Comparison, client: string): Promise<boolean> | undefined {
    const waiting = this.#waitingOf.get(client) ?? 0;
    if (this.#running.size >= MAX_WAITING || waiting >= MAX_WAITING_PER_CLIENT) return undefined;
    this.#waitingOf.set(client, waiting + 1);
    const running = this.#last.then(() => this.#compare(comparison));
    const end = (): void => {
      this.#running.delete(key);
      const left = this.#waitingOf.get(client)! - 1;
      if (left === 0) this.#waitingOf.delete(client);
      else this.#waitingOf.set(client, left);
      if (this.#running.size === 0) this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
    };
    clearTimeout(this.#idle);
    this.#running.set(key, running);
    this.#last = running.then(end, end);
    return running;
  }

  /** Rejects if the thread ends. */
  #compare(comparison: Comparison): Promise<boolean> {
    const worker = (this.#worker ??= new Worker(new URL('password-worker.js', import.meta.url)));
    worker.unref();
    return new Promise((resolve, reject) => {
      const done = (): void => void worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      const onMessage = (isEqual: boolean): void => {
        done();
        resolve(isEqual);
      };
      const onError = (error: Error): void => {
        done();
        this.#worker = undefined;
        reject(error);
      };
      const onExit = (): void => onError(new Error('the thread that compares passwords has ended'));
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(comparison);
    });
  }
}
