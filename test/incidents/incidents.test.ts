import { afterAll, expect, it } from 'vitest';
import { INCIDENTS } from './cases.js';
import { runCase } from './harness/run-case.js';
import { type CaseScore, scoreOf } from './harness/score.js';
import { faultsOf, summaryOf, tableOf } from './harness/table.js';

const scores: CaseScore[] = [];
const beganMs = performance.now();

it.each(INCIDENTS)('finds $name in time, and says nothing else', (one) => {
  const score = scoreOf(one, runCase(one));
  scores.push(score);
  const labels = one.except === undefined ? score.labels : [];
  expect(faultsOf([{ ...score, labels }])).toEqual([]);
});

afterAll(() => {
  const { labels, found, inTime } = summaryOf(scores, []);
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(0);
  console.log(
    `${tableOf(scores, [])}\n${labels} incidents, ${found} found, ${inTime} in time; the suite took ${seconds} s`,
  );
});
