import { afterAll, expect, it } from 'vitest';
import { randomCase } from './generate.js';
import { runCase } from './harness/run-case.js';
import { scoreOf } from './harness/score.js';
import { faultsOf, summaryOf, tableOf } from './harness/table.js';

const SEED = 777;
const WORLDS = 30;
const LEAST_RECALL = 0.98;
const LEAST_PRECISION = 0.95;

const scores = Array.from({ length: WORLDS }, (_, index) => randomCase(SEED, index)).map((one) =>
  scoreOf(one, runCase(one)),
);
const incidents = scores.filter(({ labels }) => labels.length > 0);
const oddities = scores.filter(({ labels }) => labels.length === 0);

it('finds what is slow in random worlds, and raises few alarms for nothing', () => {
  const { recall, precision } = summaryOf(incidents, oddities);
  expect({ recall, precision }, faultsOf(scores).join('\n')).toSatisfy(
    () => recall >= LEAST_RECALL && precision >= LEAST_PRECISION,
  );
});

afterAll(() => console.log(tableOf(incidents, oddities)));
