// Breaks one rule of the verdict after the other, and prints what the labelled case that needs it says then: a rule without such a case
// earns nothing.
//
//   node test/incidents/break.mjs [--jobs N] [WORD...]
//
// WORD: part of the name or of the file of a rule; default: all.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runAll } from './harness/pool.mjs';
import { RULES } from './rules.mjs';
import './typescript.mjs';

const { faultsOf } = await import('./harness/table.ts');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { jobs: { type: 'string', default: String(availableParallelism()) } },
});
const isWanted = ({ rule, file }) => positionals.every((word) => rule.includes(word) || file.includes(word));
const wanted = RULES.filter(isWanted);

let unnoticed = 0;
const queue = [...wanted];
await Promise.all(Array.from({ length: Number(values.jobs) }, breakNext));
console.log(`${wanted.length} rules, ${unnoticed} that no case notices`);
process.exitCode = unnoticed === 0 ? 0 : 1;

async function breakNext() {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { rule, noticedBy, ...change } = next;
    process.env['NIXL_OTEL_TEST_CHANGE'] = JSON.stringify(change);
    await runAll([{ name: noticedBy }], 1, {}, ({ score }) => {
      const [notice] = faultsOf([score]);
      if (notice === undefined) unnoticed++;
      console.log(`${notice === undefined ? 'UNNOTICED' : 'noticed  '}  ${rule}: ${notice ?? noticedBy}`);
    });
  }
}
