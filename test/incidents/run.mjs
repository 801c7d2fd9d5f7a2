// Runs labelled cases, and prints what was said for nothing or too late, and the table of results.
//
//   node test/incidents/run.mjs [NAME...] [--recordings FOLDER] [--dump] [--seed N] [--jobs N]
//
// NAME: of a case, with * for any text; default: all. --recordings: keeps the samples of each case there; a case that is there
// already runs the judge of slowness alone over them, in a fraction of the time: delete the folder after a change of anything
// else. --dump: prints what is said of each case, and the facts of the judge whenever they change.
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import './typescript.mjs';

const { INCIDENTS, ODDITIES } = await import('./cases.ts');
const { faultsOf, summaryOf, tableOf } = await import('./harness/table.ts');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    recordings: { type: 'string' },
    dump: { type: 'boolean', default: false },
    seed: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const patterns = positionals.map((glob) => new RegExp(`^${glob.replaceAll('*', '.*')}$`));
const isWanted = ({ name }) => patterns.length === 0 || patterns.some((pattern) => pattern.test(name));
const wanted = [...INCIDENTS, ...ODDITIES].filter(isWanted);
const { recordings, dump } = values;
const task = { recordings, dump, ...(values.seed === undefined ? {} : { seed: Number(values.seed) }) };

const beganMs = performance.now();
const scores = new Map();
const queue = [...wanted].sort((a, b) => b.seconds - a.seconds);
await Promise.all(Array.from({ length: Math.min(Number(values.jobs), queue.length) }, work));
const inOrder = (cases) => cases.flatMap(({ name }) => scores.get(name) ?? []);
const [incidents, oddities] = [inOrder(INCIDENTS), inOrder(ODDITIES)];
console.log(tableOf(incidents, oddities));
for (const line of faultsOf([...incidents, ...oddities])) console.log(line);
console.log(summaryOf(incidents, oddities));
console.log(`${scores.size} cases in ${((performance.now() - beganMs) / 1000).toFixed(1)} s`);

function work() {
  const worker = fork(fileURLToPath(new URL('harness/worker.ts', import.meta.url)), {
    execArgv: ['--import', new URL('typescript.mjs', import.meta.url).href],
  });
  return new Promise((resolve, reject) => {
    const next = () => {
      const one = queue.shift();
      if (one === undefined) worker.disconnect();
      else worker.send({ ...task, name: one.name });
    };
    worker.on('message', ({ score, spells, ms }) => {
      scores.set(score.name, score);
      if (dump) print(score, spells, ms);
      next();
    });
    worker.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))));
    next();
  });
}

function print({ name }, spells, ms) {
  console.log(`${name}: ${Math.round(ms)} ms`);
  for (const { level, kind, agent, saidS, sinceS, endS, sentence } of spells) {
    console.log(`  ${level} ${kind} ${agent} said ${saidS} since ${sinceS} until ${endS ?? 'the end'}: ${sentence}`);
  }
}
