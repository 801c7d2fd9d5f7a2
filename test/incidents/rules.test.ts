import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LABELLED } from './harness/case-named.js';
// @ts-expect-error: a script of Node.js without types
import { RULES } from './rules.mjs';

interface Rule {
  readonly rule: string;
  readonly noticedBy: string;
  readonly file: string;
  readonly from: string;
}

it('break.mjs finds the text of each rule, and the case that notices', () => {
  for (const { rule, noticedBy, file, from } of RULES as Rule[]) {
    expect([rule, readFileSync(file, 'utf8').split(from).length]).toEqual([rule, 2]);
    expect(
      LABELLED.map(({ name }) => name),
      rule,
    ).toContain(noticedBy);
  }
});
