// Runs random worlds with a fresh seed, and prints the seed, and what was found and what was said for nothing.
//
//   node test/incidents/random.mjs [--seed N] [--worlds N] [--dump] [--jobs N]
//
// One world alone: node test/incidents/run.mjs random-SEED-INDEX --dump
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { print, runAll } from './harness/pool.mjs';
import './typescript.mjs';

const { randomCase } = await import('./generate.ts');
const { faultsOf, summaryOf, tableOf } = await import('./harness/table.ts');

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    worlds: { type: 'string', default: '60' },
    dump: { type: 'boolean', default: false },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const seed = Number(values.seed);
console.log(`seed ${seed}`);
const cases = Array.from({ length: Number(values.worlds) }, (_, index) => randomCase(seed, index));
const scores = [];
await runAll(cases, Number(values.jobs), {}, ({ score, spells, ms }) => {
  scores.push(score);
  if (values.dump) print(score, spells, ms);
});
scores.sort((a, b) => a.kind.localeCompare(b.kind));
const incidents = scores.filter(({ labels }) => labels.length > 0);
const oddities = scores.filter(({ labels }) => labels.length === 0);
console.log(tableOf(incidents, oddities));
for (const line of faultsOf(scores)) console.log(line);
console.log(summaryOf(incidents, oddities));
