import { expect, it } from 'vitest';
import { FIELD } from './field.js';
import { LIVES } from './lives.js';
import { runCase } from './harness/run-case.js';
import { scoreOf } from './harness/score.js';
import { faultsOf } from './harness/table.js';

it.each([...FIELD, ...LIVES])('says what $name asks for, and no other alarm', (one) => {
  expect(faultsOf([scoreOf(one, runCase(one))])).toEqual([]);
});
