import { expect, it } from 'vitest';
import { runCase } from './harness/run-case.js';
import { scoreOf } from './harness/score.js';
import { faultsOf } from './harness/table.js';
import { HEALTHY_NAMES, healthyName, healthyNamed } from './healthy.js';

it.each(HEALTHY_NAMES)('raises no alarm over two hours of traffic: %s', (name) => {
  const one = healthyNamed(healthyName(name, 2))!;
  expect(faultsOf([scoreOf(one, runCase(one))])).toEqual([]);
});
