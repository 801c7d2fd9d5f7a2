import { expect, it } from 'vitest';
import { coalesce } from '../../../src/serve/exposition/metrics-handler.js';

it('runs the work once more for all calls during a run, after these calls', async () => {
  const ends: ((fails: boolean) => void)[] = [];
  const ask = coalesce(
    () =>
      new Promise<number>((resolve, reject) => {
        const turn = ends.length;
        ends.push((fails) => (fails ? reject(new Error(`turn ${turn}`)) : resolve(turn)));
      }),
  );
  const first = ask();
  const waiting = [ask(), ask(), ask()];
  expect(ends).toHaveLength(1);
  ends[0]!(false);
  expect(await first).toBe(0);
  await expect.poll(() => ends.length).toBe(2);
  const later = [ask(), ask()];
  ends[1]!(true); // its failure must not reach the later calls
  expect(await Promise.allSettled(waiting)).toMatchObject(Array(3).fill({ reason: new Error('turn 1') }));
  await expect.poll(() => ends.length).toBe(3);
  ends[2]!(false);
  expect(await Promise.all(later)).toEqual([2, 2]);
  const alone = ask();
  ends[3]!(false);
  expect(await alone).toBe(3);
});
