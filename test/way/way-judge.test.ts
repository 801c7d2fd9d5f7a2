/** The way of each agent in made situations: what is stated is right, and what can be seen is stated. */
import { expect, test } from 'vitest';
import { wayText } from '../../src/way/way.js';
import { WayJudge } from '../../src/way/way-judge.js';
import { SITUATIONS, windowsOf } from './situations.js';

const SEEDS = [1, 2, 3, 4, 5];

interface Told {
  readonly name: string;
  readonly seed: number;
  readonly expected: string;
  readonly told: string;
}

function toldIn(): Told[] {
  return SITUATIONS.flatMap((situation) =>
    SEEDS.flatMap((seed) => {
      const judge = new WayJudge();
      for (const window of windowsOf(situation, seed)) judge.take(window);
      return situation.agents.map(({ routes, direction = 'sent' }, id) => {
        const way = judge.of(id)[direction === 'sent' ? 'tx' : 'rx'];
        return {
          name: situation.name,
          seed,
          expected: routes.at(-1)!.expected,
          told: (way && wayText(way)) ?? 'unknown',
        };
      });
    }),
  );
}

test('every way that is stated is right, and almost every one that can be seen is stated', () => {
  expect(SITUATIONS.length).toBeGreaterThanOrEqual(40);
  const all = toldIn();
  const wrong = all.filter(({ expected, told }) => told !== 'unknown' && told !== expected);
  expect(wrong).toEqual([]);
  const visible = all.filter(({ expected }) => expected !== 'unknown');
  const missed = visible.filter(({ told }) => told === 'unknown');
  console.log(`${all.length} agents, ${visible.length} visible, ${missed.length} missed: ${JSON.stringify(missed)}`);
  expect(missed.length / visible.length).toBeLessThan(0.02);
});
