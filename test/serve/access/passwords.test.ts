/** Passwords with a clock of the test, whose time passes only with comparisons and waits. */
import { compareSync, hashSync } from 'bcryptjs';
import { expect, it } from 'vitest';
import { FairQueue, MOST_OF_CLIENT, MOST_WAITING } from '../../../src/serve/access/fair-queue.js';
import type { Comparison } from '../../../src/serve/access/password-worker.js';
import { Passwords } from '../../../src/serve/access/passwords.js';

/** As long in the clock of the test as their cost says, and short in truth. */
const [CHEAP, DEAR] = [4, 6];
const USERS = new Map([
  ['cheap', hashSync('right', CHEAP)],
  ['dear', hashSync('right', DEAR)],
]);

class Compared {
  nowMs = 0;
  readonly hashes: string[] = [];
  onCompare = (): void => undefined;
  readonly passwords = new Passwords(
    {
      start: () => Promise.resolve(),
      rest: () => {},
      close: () => {},
      compare: ({ password, hash }: Comparison) => {
        this.hashes.push(hash);
        this.nowMs += 2 ** Number(hash.slice(4, 6));
        this.onCompare();
        return Promise.resolve(compareSync(password, hash));
      },
    },
    {
      nowMs: () => this.nowMs,
      sleep: (ms) => Promise.resolve((this.nowMs += ms)),
    },
  );

  constructor() {
    this.passwords.use(USERS);
  }

  /** Returns the verdict and how long it took. */
  async check(user: string, password: string): Promise<[string, number]> {
    const beginMs = this.nowMs;
    return [await this.passwords.check(user, password, 'client'), this.nowMs - beginMs];
  }
}

it('are refused after the same time, whether the user is known, and at which cost', async () => {
  for (const first of ['nobody', 'cheap', 'dear']) {
    const compared = new Compared();
    const [, lasts] = await compared.check(first, 'wrong 0');
    for (const user of ['nobody', 'cheap', 'dear', 'nobody', 'stranger']) {
      expect(await compared.check(user, 'wrong'), user).toEqual(['wrong', lasts]);
    }
    expect(lasts).toBeGreaterThan(2 ** DEAR);
  }
});

it('are not compared for unknown users, after one comparison that measures', async () => {
  const compared = new Compared();
  for (let i = 0; i < 20; i++) await compared.check(`nobody ${i}`, 'wrong');
  expect(compared.hashes).toEqual([USERS.get('dear')]);
});

it('are known after the first comparison, and take no time then', async () => {
  const compared = new Compared();
  expect(await compared.check('cheap', 'right')).toEqual(['right', 2 ** CHEAP]);
  expect(compared.passwords.check('cheap', 'right', 'other client')).toBe('right');
});

it.each([
  ['without the user', new Map([['dear', USERS.get('dear')!]])],
  ['with another password of the user', new Map([['cheap', hashSync('next', CHEAP)]])],
])('are refused to a user whose file was replaced during the comparison, by one %s', async (_, users) => {
  const compared = new Compared();
  compared.onCompare = () => compared.passwords.use(users);
  expect((await compared.check('cheap', 'right'))[0]).toBe('wrong');
  expect((await compared.check('cheap', 'right'))[0]).toBe('wrong');
});

it('of equal attempts at the same time are compared once', async () => {
  const compared = new Compared();
  const both = [compared.check('cheap', 'right'), compared.check('cheap', 'right')];
  expect(await Promise.all(both)).toEqual(Array(2).fill(['right', 2 ** CHEAP]));
  expect(compared.hashes).toHaveLength(1);
});

it('of a user come to their turn while the same client floods those of others', async () => {
  const compared = new Compared();
  const flood = Array.from({ length: 500 }, (_, i) => compared.check('nobody', `wrong ${i}`));
  expect((await compared.check('dear', 'right'))[0]).toBe('right');
  const verdicts = (await Promise.all(flood)).map(([verdict]) => verdict);
  expect(new Set(verdicts)).toEqual(new Set(['wrong', 'busy']));
  expect(compared.hashes).toHaveLength(2);
});

it('that wait at the end, or are being compared, are told to try again, and start no other thread', async () => {
  const compared = new Compared();
  const all = Array.from({ length: 3 }, (_, i) => compared.check('cheap', `wrong ${i}`));
  compared.onCompare = () => {
    compared.passwords.close();
    throw new Error('the thread has ended');
  };
  expect((await Promise.all(all)).map(([verdict]) => verdict)).toEqual(['busy', 'busy', 'busy']);
  expect(compared.hashes).toHaveLength(1);
});

function takeAll(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(next);
  return taken;
}

it('wait in a queue in which clients take turns, and the users of each', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a x 1', 'a x 2', 'a x 3', 'a y 1', 'b x 1', 'b x 2', 'a y 2', 'c z 1']) {
    const [client, user] = item.split(' ');
    expect(queue.add(client!, user!, item)).toBeUndefined();
  }
  expect(takeAll(queue)).toEqual(['a x 1', 'b x 1', 'c z 1', 'a y 1', 'b x 2', 'a x 2', 'a y 2', 'a x 3']);
  queue.add('a', 'x', 'again');
  expect(takeAll(queue)).toEqual(['again']);
});

it('lose their place to a user, or a client, with fewer', () => {
  const queue = new FairQueue<string>();
  const fill = (client: string, count: number) =>
    Array.from({ length: count }, (_, i) => queue.add(client, 'x', `${client} x ${i}`));
  expect(fill('a', MOST_OF_CLIENT).filter((lost) => lost !== undefined)).toEqual([]);
  expect(queue.add('a', 'x', 'more')).toBe('more');
  expect(queue.add('a', 'y', 'a y 0')).toBe(`a x ${MOST_OF_CLIENT - 1}`);
  fill('b', MOST_WAITING - MOST_OF_CLIENT);
  expect(queue.add('c', 'z', 'c z 0')).toBe(`a x ${MOST_OF_CLIENT - 2}`);
  expect(queue.add('b', 'x', 'more')).toBe('more');
  expect(takeAll(queue).slice(0, 4)).toEqual(['a x 0', 'b x 0', 'c z 0', 'a y 0']);
});

it('of a flood with a name for each attempt are those that find no place', () => {
  const queue = new FairQueue<string>();
  expect(queue.add('a', 'right', 'right')).toBeUndefined();
  const lost = Array.from({ length: 1000 }, (_, i) => queue.add('a', `name ${i}`, `name ${i}`));
  expect(lost.filter((one) => one !== undefined)).toHaveLength(1001 - MOST_OF_CLIENT);
  expect(takeAll(queue)[0]).toBe('right');
});
