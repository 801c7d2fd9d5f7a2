// `npm run bench [-- NAME ...] [--json | --markdown] [--quick]`: builds the native programs and runs all
// benches, or the named ones. Figures are medians of several runs after a warm-up, with references of the same run:
// ratios of two machines can be compared, figures cannot: docs/performance.md has those of one machine. --quick only checks
// that the benches work: a time above its limit is printed, and is no failure.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { markdownTable } from './support/markdown.mjs';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const benches = readdirSync(here('.'))
  .filter((file) => file.endsWith('.bench.mjs'))
  .map((file) => file.replace('.bench.mjs', ''));

const { values, positionals } = parseArgs({
  options: {
    json: { type: 'boolean' },
    markdown: { type: 'boolean' },
    quick: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const unknown = positionals.find((name) => !benches.includes(name));
if (unknown !== undefined) {
  console.error(`bench: there is no bench ${unknown}; there are ${benches.join(', ')}`);
  process.exit(2);
}
const { status } = spawnSync('make', ['-C', here('../native'), '--silent', '-j2', 'bench'], {
  stdio: ['inherit', process.stderr, 'inherit'],
});
if (status !== 0) process.exit(1);

for (const name of positionals.length > 0 ? positionals : benches) {
  const bench = await import(new URL(`${name}.bench.mjs`, import.meta.url));
  const rows = await bench.run({ quick: values.quick }); // none if a program that it needs is missing
  const table = new Map(rows.map((row) => [bench.caseOf(row), checked(bench.columnsOf(row))]));
  if (values.json) {
    console.log(JSON.stringify({ bench: name, rows }));
  } else if (values.markdown) {
    console.log(`## ${name}\n\n${markdownTable(table)}\n`);
  } else {
    console.log(`${name}: ${bench.title}`);
    console.table(Object.fromEntries(table));
  }
  for (const text of bench.violations?.(rows) ?? []) {
    console.error(`${name}: ${text}`);
    if (!values.quick) process.exitCode = 1; // other work on the machine makes a frame slower
  }
}

/** Throws for a cell without a number: the bench is broken. */
function checked(columns) {
  for (const [column, cell] of Object.entries(columns)) {
    if (typeof cell === 'string' ? /NaN|undefined/.test(cell) : !Number.isFinite(cell)) {
      throw new Error(`bench: ${column} is ${cell}`);
    }
  }
  return columns;
}
