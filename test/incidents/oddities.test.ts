import { afterAll, expect, it } from 'vitest';
import { ODDITIES } from './cases.js';
import { runCase } from './harness/run-case.js';
import { type CaseScore, scoreOf } from './harness/score.js';
import { faultsOf, tableOf } from './harness/table.js';

const scores: CaseScore[] = [];

it.each(ODDITIES)('says nothing of $name that a person should act on', (one) => {
  const score = scoreOf(one, runCase(one));
  scores.push(score);
  expect(faultsOf([score])).toEqual([]);
});

afterAll(() => console.log(tableOf([], scores)));
