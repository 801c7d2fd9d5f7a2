// `npm run fuzz -- --seconds 60` runs the tests of properties, then builds the fuzz targets and runs each of them for that
// time. A run of a target begins with the corpus in this folder and the findings of earlier runs on this machine. It
// writes failing inputs to native/build/fuzz. The seed is random, and the first line names it: with `--seed N` inputs are
// the same again, as far as the time reaches. To repeat one of a target, pass its path:
// `npm run fuzz -- --target mutations native/build/fuzz/crash-...`.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const folder = path.dirname(fileURLToPath(import.meta.url));
const native = path.dirname(folder);
const root = path.dirname(native);
const build = path.join(native, 'build/fuzz');
const targets = readdirSync(folder)
  .filter((file) => file.endsWith('_fuzz.cc'))
  .map((file) => file.replace('_fuzz.cc', ''));

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(randomInt(1, 1e9)) },
    target: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
  allowPositionals: true,
});
const numbers = [values.seconds, values.seed].every((text) => /^\d{1,9}$/.test(text));
if (values.help || !numbers || (values.target && !targets.includes(values.target))) {
  console.error(`usage: npm run fuzz -- [--seconds N] [--seed N] [--target ${targets.join('|')}] [FILE...]`);
  process.exit(values.help ? 0 : 2);
}
console.log(`seed ${values.seed}`);
if (!values.target) properties();

const compiler = process.env.CLANGXX ?? 'clang++';
if (spawnSync(compiler, ['--version']).status !== 0) {
  console.error(`${compiler} is not there: apt-get install clang (or set CLANGXX); libFuzzer comes with it`);
  process.exit(1);
}
run('make', ['-C', native, '--silent', '-j2', `CLANGXX=${compiler}`, 'fuzz']);

for (const target of values.target ? [values.target] : targets) {
  const found = path.join(build, 'found', target);
  mkdirSync(found, { recursive: true });
  const what =
    positionals.length > 0
      ? positionals
      : [`-max_total_time=${values.seconds}`, `-seed=${values.seed}`, found, path.join(folder, 'corpus', target)];
  console.log(`${target}: ${positionals.length > 0 ? positionals.join(' ') : `${values.seconds} s`}`);
  // An input takes milliseconds. The largest files that a target reads are sparse files of 2^24 slots.
  const limits = ['-max_len=1024', '-timeout=20', '-rss_limit_mb=2048', `-artifact_prefix=${build}/`];
  fuzz(path.join(build, `${target}_fuzz`), [...limits, '-print_final_stats=1', '-verbosity=0', ...what]);
}

// Runs all test files with properties. fast-check prints the values of a failure, and a path that leads to them.
function properties() {
  const files = readdirSync(path.join(root, 'test'), { recursive: true })
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith('matrix'))
    .filter((file) => readFileSync(path.join(root, 'test', file), 'utf8').includes("from 'fast-check'"))
    .map((file) => path.join('test', file));
  const options = { cwd: root, env: { ...process.env, NIXL_TEST_SEED: values.seed } };
  run('npx', ['vitest', 'run', '--reporter=dot', ...files], options);
}

// Runs libFuzzer. Prints its figures, and all of its output after a failure.
function fuzz(program, args) {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 30 });
  const figures = /number_of_executed_units|average_exec_per_sec|peak_rss_mb/;
  if (status !== 0) process.stderr.write(stderr);
  else for (const line of stderr.split('\n').filter((text) => figures.test(text))) console.log(line);
  if (status !== 0) process.exit(status ?? 1);
}

function run(program, args, options = {}) {
  const { status, signal } = spawnSync(program, args, { ...options, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? (signal === null ? 1 : 128));
}
