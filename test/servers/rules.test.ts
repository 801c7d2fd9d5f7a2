/** Unit tests of the rules by promtool, in each spelling of the series. */
import { describe, it } from 'vitest';
import { CASES } from './rules/cases.js';
import { testRules } from './rules/rule-test.js';
import { SPELLINGS } from './rules/spelled.js';

describe('recording rules and alerts', () => {
  it.each(Object.entries(SPELLINGS))('hold for series %s', async (_, spelling) => {
    await testRules(CASES, spelling);
  });
});
