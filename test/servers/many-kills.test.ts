/** serve killed with -9 under load, more often than in test/faults/killed-serves.test.ts. */
import { test } from 'vitest';
import { killedInTurns, killedInWork } from '../support/killed-serves.js';

test('serve killed 25 times: every number of every agent is its own', () => killedInWork(25));

test('two serves that take turns at being killed 12 times: each goes on where the other died', () => killedInTurns(12));
