// Runs labelled cases, and prints what was said for nothing or too late, and the table of results.
//
//   node test/incidents/run.mjs [NAME...] [--recordings FOLDER] [--dump] [--seed N] [--jobs N] [--docs]
//
// NAME: of a case, with * for any text, or of a random one; default: all labelled ones. --recordings: keeps the samples of each case there; a case that is there
// already runs the judge of slowness alone over them, in a fraction of the time: delete the folder after a change of anything
// else. --dump: prints what is said of each case, and the facts of the judge whenever they change. --docs: writes the table of
// docs/findings.md, from all labelled cases.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { print, runAll } from './harness/pool.mjs';
import './typescript.mjs';

const { caseNamed, LABELLED } = await import('./harness/case-named.ts');
const { writeDocs } = await import('./harness/docs-page.ts');
const { faultsOf, summaryOf, tableOf } = await import('./harness/table.ts');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    recordings: { type: 'string' },
    dump: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
    seed: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const patterns = positionals.map((glob) => new RegExp(`^${glob.replaceAll('*', '.*')}$`));
const isWanted = ({ name }) => patterns.length === 0 || patterns.some((pattern) => pattern.test(name));
const random = positionals.filter((name) => name.startsWith('random-')).map(caseNamed);
const wanted = LABELLED.filter(isWanted).concat(random);
const { recordings, dump } = values;
const task = { recordings, dump, ...(values.seed === undefined ? {} : { seed: Number(values.seed) }) };

const beganMs = performance.now();
const queue = [...wanted].sort((a, b) => b.seconds - a.seconds);
const scores = new Map();
await runAll(queue, Number(values.jobs), task, ({ score, spells, ms }) => {
  scores.set(score.name, score);
  if (dump) print(score, spells, ms);
});
const inOrder = wanted.map(({ name }) => scores.get(name));
const isIncident = ({ labels }) => labels.length > 0;
const incidents = inOrder.filter(isIncident);
const oddities = inOrder.filter((score) => !isIncident(score));
console.log(tableOf(incidents, oddities));
for (const line of faultsOf([...incidents, ...oddities])) console.log(line);
console.log(summaryOf(incidents, oddities));
console.log(`${scores.size} cases in ${((performance.now() - beganMs) / 1000).toFixed(1)} s`);
if (values.docs) await writeDocs(inOrder);
