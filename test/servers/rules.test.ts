/** Unit tests of the rules by promtool, in each spelling of the series. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../cli/command.js';
import { CASES } from './rules/cases.js';
import { testRules } from './rules/rule-test.js';
import { ALERTS_OF_SERIES_NIXL } from './rules/serve-cases.js';
import { SPELLINGS } from './rules/spelled.js';

describe('recording rules and alerts', () => {
  it.each(Object.entries(SPELLINGS))('hold for series %s', async (_, spelling) => {
    await testRules(CASES, spelling);
  });

  it('that fire with the series of NIXL alone are listed in docs/dashboards.md', () => {
    const page = readFileSync(path.join(ROOT, 'docs/dashboards.md'), 'utf8');
    const [, listed] = /^With `--series nixl` only these can fire: (.*?)\./m.exec(page)!;
    expect(listed).toBe(ALERTS_OF_SERIES_NIXL.map((alert) => `\`${alert}\``).join(', '));
  });
});
