import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DOCS_PAGE } from './harness/docs-page.js';
import { LABELLED } from './harness/case-named.js';

it('docs/findings.md names what all labelled cases are about (node test/incidents/run.mjs --docs)', () => {
  const text = readFileSync(DOCS_PAGE, 'utf8').replace(/\s+/g, ' ');
  const [rows, healthy] = [text.split('healthy cases raise')[0]!, text.split('healthy cases raise')[1] ?? ''];
  const missing = LABELLED.filter(({ kind, alarms }) => {
    if (alarms.length > 0) return !rows.includes(`| ${kind} |`);
    return kind !== 'field' && !healthy.includes(kind);
  });
  expect([...new Set(missing.map(({ kind }) => kind))]).toEqual([]);
});
