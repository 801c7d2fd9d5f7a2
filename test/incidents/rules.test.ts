import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
// @ts-expect-error: a script of Node.js without types
import { RULES } from './rules.mjs';

it('break.mjs finds the text of each rule', () => {
  for (const { rule, file, from } of RULES as { rule: string; file: string; from: string }[]) {
    expect([rule, readFileSync(file, 'utf8').split(from).length]).toEqual([rule, 2]);
  }
});
