/** serve killed with -9 under load. test/servers/many-kills.test.ts has more kills. */
import { test } from 'vitest';
import { killedInTurns, killedInWork } from '../support/killed-serves.js';

test('serve killed 8 times: every number of every agent is its own', () => killedInWork(8));

test('two serves that take turns at being killed: each goes on where the other died', () => killedInTurns(4));
