/**
 * Comparisons of passwords with bcrypt hashes, on one thread and one after the other. A refusal takes as long as a comparison
 * with the hash of the highest cost, also where there was less to compare, or nothing: its time does not tell which users
 * there are. The next turn waits for its end, because the length of a queue would tell it, too.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairQueue } from './fair-queue.js';
import { PasswordThread } from './password-thread.js';

const MAX_KNOWN = 128;
/** Comparisons of which the longest counts for the time of a refusal. */
const MEASURED = 8;
/** Some comparisons take longer than all before them. */
const MARGIN = 1.25;

export type PasswordVerdict = 'right' | 'wrong' | 'busy';

interface Attempt {
  readonly key: string;
  readonly user: string;
  readonly password: string;
  readonly resolve: (verdict: PasswordVerdict) => void;
  readonly reject: (reason: unknown) => void;
}

export interface Clock {
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
}

const CLOCK: Clock = { nowMs: () => performance.now(), sleep: (ms) => sleep(ms, undefined, { ref: false }) };

type Thread = Pick<PasswordThread, 'start' | 'compare' | 'rest' | 'close'>;

export class Passwords {
  readonly #thread: Thread;
  readonly #clock: Clock;
  #users: ReadonlyMap<string, string> = new Map();
  /** Users, hashes and passwords that belong together, under a key of this process: no password stays in memory. */
  readonly #known = new Set<string>();
  readonly #secret = randomBytes(32);
  /** Equal attempts of a client at the same time, as of a browser that loads a page, are one. */
  readonly #running = new Map<string, Promise<PasswordVerdict>>();
  readonly #waiting = new FairQueue<Attempt>();
  #isComparing = false;
  #isClosed = false;
  #slowest = '';
  /** Times of comparisons with a hash of the highest cost. */
  #measuredMs: number[] = [];

  constructor(thread: Thread = new PasswordThread(), clock: Clock = CLOCK) {
    this.#thread = thread;
    this.#clock = clock;
  }

  use(users: ReadonlyMap<string, string>): void {
    this.#users = users;
    const slowest = [...users.values()].reduce((most, hash) => (costOf(hash) > costOf(most) ? hash : most), '');
    if (costOf(slowest) !== costOf(this.#slowest)) this.#measuredMs = [];
    this.#slowest = slowest;
  }

  /** `client`: its network, see networkOf(). Resolves to `busy` if too many wait, or at the end. Rejects if the thread ends by itself. */
  check(user: string, password: string, client: string): 'right' | Promise<PasswordVerdict> {
    const hash = this.#users.get(user);
    if (hash !== undefined && this.#known.has(this.#keyOf(user, hash, password))) return 'right';
    const key = this.#keyOf(user, password, client);
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const begun = new Promise<PasswordVerdict>((resolve, reject) => {
      this.#waiting.add(client, user, { key, user, password, resolve, reject })?.resolve('busy');
    }).finally(() => this.#running.delete(key));
    this.#running.set(key, begun);
    if (!this.#isComparing) void this.#compareAll();
    return begun;
  }

  close(): void {
    this.#isClosed = true;
    this.#thread.close();
  }

  async #compareAll(): Promise<void> {
    this.#isComparing = true;
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) {
      const { resolve, reject } = next;
      // Nothing starts the thread anew after the end, which ends a comparison under way.
      if (this.#isClosed) resolve('busy');
      else await this.#turn(next).then(resolve, (error: unknown) => (this.#isClosed ? resolve('busy') : reject(error)));
    }
    this.#isComparing = false;
    if (!this.#isClosed) this.#thread.rest();
  }

  async #turn({ user, password }: Attempt): Promise<PasswordVerdict> {
    await this.#thread.start();
    const hash = this.#users.get(user);
    const beginMs = this.#clock.nowMs();
    if (hash !== undefined) {
      const known = this.#keyOf(user, hash, password);
      const isEqual = this.#known.has(known) || (await this.#compare(password, hash));
      // The file may have changed meanwhile.
      if (isEqual && this.#users.get(user) === hash) {
        if (this.#known.size >= MAX_KNOWN) this.#known.delete(this.#known.values().next().value!);
        this.#known.add(known);
        return 'right';
      }
    }
    if (this.#measuredMs.length === 0 && this.#slowest !== '') await this.#compare(password, this.#slowest);
    const lastsMs = Math.max(0, ...this.#measuredMs) * MARGIN;
    await this.#clock.sleep(Math.max(0, beginMs + lastsMs - this.#clock.nowMs()));
    return 'wrong';
  }

  async #compare(password: string, hash: string): Promise<boolean> {
    const beginMs = this.#clock.nowMs();
    const isEqual = await this.#thread.compare({ password, hash });
    if (costOf(hash) === costOf(this.#slowest)) {
      this.#measuredMs = [...this.#measuredMs, this.#clock.nowMs() - beginMs].slice(-MEASURED);
    }
    return isEqual;
  }

  #keyOf(...parts: readonly string[]): string {
    return createHmac('sha256', this.#secret).update(JSON.stringify(parts)).digest('base64');
  }
}

/** The first two digits after `$2b$` are the cost. */
function costOf(hash: string): number {
  return Number(hash.slice(4, 6));
}
