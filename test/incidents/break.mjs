// Breaks one rule of the verdict after the other, and prints the first labelled case that fails for it: a rule without one earns nothing.
//
//   node test/incidents/break.mjs [--cases GLOB] [--jobs N] [--recordings FOLDER] [WORD...]
//
// WORD: part of the name or of the file of a rule; default: all. GLOB: of the cases, with * for any text. FOLDER: of recordings
// of the cases with all rules, by which those of slowness are tried: delete it after a change of anything else.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runAll } from './harness/pool.mjs';
import { RULES } from './rules.mjs';
import './typescript.mjs';

const { LABELLED } = await import('./harness/case-named.ts');
const { faultsOf } = await import('./harness/table.ts');
const { NOT_YET } = await import('./not-yet.ts');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cases: { type: 'string', default: '*' },
    recordings: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const glob = new RegExp(`^${values.cases.replaceAll('*', '.*')}$`);
const cases = LABELLED.filter(({ name, except }) => glob.test(name) && except === undefined && !NOT_YET.has(name));
// The shortest first: most rules are noticed within seconds.
cases.sort((a, b) => a.seconds - b.seconds);
const isWanted = ({ rule, file }) => positionals.every((word) => rule.includes(word) || file.includes(word));

const { recordings = mkdtempSync(path.join(tmpdir(), 'nixl-otel-recordings-')) } = values;
// With all rules, once to record them and once to try what is recorded.
for (const task of [{ recordings }, { recordings }])
  await runAll(cases, Number(values.jobs), task, ({ score }) => {
    for (const fault of faultsOf([score])) throw new Error(`without a change: ${fault}`);
  });

let unnoticed = 0;
for (const { rule, ...change } of RULES.filter(isWanted)) {
  const task = change.file.startsWith('src/view/slowness/') ? { recordings } : {};
  process.env['NIXL_OTEL_TEST_CHANGE'] = JSON.stringify(change);
  let notice;
  await runAll(cases, Number(values.jobs), task, ({ score }) => {
    notice ??= faultsOf([score])[0];
    return notice === undefined;
  });
  if (notice === undefined) unnoticed++;
  console.log(`${notice === undefined ? 'UNNOTICED' : 'noticed  '}  ${rule}: ${notice ?? 'no case fails'}`);
}
if (values.recordings === undefined) rmSync(recordings, { recursive: true });
console.log(`${unnoticed} rules that no case notices`);
process.exitCode = unnoticed === 0 ? 0 : 1;
