/** The way of each agent in made situations: what is stated is right, and what can be seen is stated. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { wayText } from '../../src/way/way.js';
import { WayJudge } from '../../src/way/way-judge.js';
import { SITUATIONS, type Situation, windowsOf } from './situations.js';

const SEEDS = [1, 2, 3, 4, 5];
const DOCS = new URL('../../docs/way.md', import.meta.url);
/** Set to write the table. */
const WRITE = process.env['WRITE_WAY_TABLE'] !== undefined;

interface Told {
  readonly group: string;
  readonly name: string;
  readonly seed: number;
  readonly expected: string;
  readonly told: string;
}

function toldIn(group: string, situation: Situation): Told[] {
  return SEEDS.flatMap((seed) => {
    const judge = new WayJudge();
    for (const window of windowsOf(situation, seed)) judge.take(window);
    return situation.agents.map(({ routes, direction = 'sent' }, id) => {
      const way = judge.of(id)[direction === 'sent' ? 'tx' : 'rx'];
      const told = (way && wayText(way)) ?? 'unknown';
      return { group, name: situation.name, seed, expected: routes.at(-1)!.expected, told };
    });
  });
}

const all = Object.entries(SITUATIONS).flatMap(([group, list]) =>
  list.flatMap((situation) => toldIn(group, situation)),
);
const isWrong = ({ expected, told }: Told): boolean => told !== 'unknown' && told !== expected;
const isMissed = ({ expected, told }: Told): boolean => told === 'unknown' && expected !== 'unknown';

test('every way that is stated is right, and every one that can be seen is stated', () => {
  expect(Object.values(SITUATIONS).flat().length).toBeGreaterThanOrEqual(40);
  expect(all.filter(isWrong)).toEqual([]);
  expect(all.filter(isMissed)).toEqual([]);
});

test('docs/way.md has these numbers (WRITE_WAY_TABLE=1 npx vitest run test/way)', () => {
  const rows = Object.entries(SITUATIONS).map(([group, list]) => {
    const told = all.filter((one) => one.group === group);
    const stated = told.filter((one) => one.told !== 'unknown');
    const right = stated.filter((one) => !isWrong(one)).length;
    return [`${list.length}: ${group}`, told.length, stated.length, right, told.filter(isMissed).length].join(' | ');
  });
  const page = readFileSync(DOCS, 'utf8');
  const [, before, table, after] = /^([^]*-- \|\n)([^]*?)(<!-- end of way table[^]*)$/.exec(page)!;
  if (WRITE) writeFileSync(DOCS, `${before}${rows.map((row) => `| ${row} |\n`).join('')}${after}`);
  else
    expect(
      table!
        .trim()
        .split('\n')
        .map((line) =>
          line
            .replaceAll(/\s*\|\s*/g, ' | ')
            .trim()
            .slice(2, -2),
        ),
    ).toEqual(rows);
});

test('a way that changed names the one before, since when', () => {
  const situation = Object.values(SITUATIONS)
    .flat()
    .find(({ name }) => name === 'from rdma to tcp')!;
  const judge = new WayJudge();
  for (const window of windowsOf(situation, 1)) judge.take(window);
  const { tx } = judge.of(0);
  expect(tx).toMatchObject({ kind: 'tcp', before: 'rdma by mlx5_0/1' });
  // The 19th window is the first by TCP.
  expect(tx!.sinceMs).toBeGreaterThanOrEqual(18 * 5000);
});
