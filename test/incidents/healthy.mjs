// Runs hours of three healthy traffics, and prints the alarms, which are all for nothing, and how many notes were said a day.
//
//   node test/incidents/healthy.mjs [--hours N] [--seed N] [--jobs N]
import { parseArgs } from 'node:util';
import { runAll } from './harness/pool.mjs';
import './typescript.mjs';

const { HEALTHY_NAMES, healthyName } = await import('./healthy.ts');
const { faultsOf } = await import('./harness/table.ts');

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '1' },
  },
});
const hours = Number(values.hours);
const cases = HEALTHY_NAMES.map((name) => ({ name: healthyName(name, hours) }));
await runAll(cases, Number(values.jobs), { seed: Number(values.seed) }, ({ score, ms }) => {
  const { name, falseAlarms, notes } = score;
  const kinds = [...new Set(notes.map(({ kind }) => kind))].map((kind) => {
    const times = new Set(notes.filter((note) => note.kind === kind).map(({ saidS }) => saidS)).size;
    return `${((times / hours) * 24).toFixed(1)} ${kind}`;
  });
  console.log(
    `${name}: ${falseAlarms.length} alarms, notes a day: ${kinds.join(', ') || 'none'} (${Math.round(ms / 1000)} s)`,
  );
  for (const line of faultsOf([score])) console.log(`  ${line}`);
});
