// Runs the steps of .github/workflows/release.yml that make the package and the image, in a clone of the last commit.
// Publishes nothing. Steps that need GitHub or a program that is missing, and tests with a separate command, are named and
// left out. In place of a container engine, deploy/try-image.mjs builds and runs the image.
//
//   node packaging/dry-run.mjs          all steps
//   node packaging/dry-run.mjs --list   what each step does here, without running it
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';

const ROOT = path.resolve(import.meta.dirname, '..');
const JOBS = ['binaries', 'package', 'image', 'publish'];

const CROSS_COMPILER = 'aarch64-linux-gnu-g++';
const isThere = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const orMissing = (program, command) => (isThere(program) ? { command } : { leftOut: `${program} is missing` });

/** Command of a step on this machine, or the reason why the step is left out. The first match counts. */
const INSTEAD = [
  [/apt-get /, () => ({ leftOut: 'the machine has its programs' })],
  [/^npm run test:package$/, () => ({ leftOut: 'has a separate command' })],
  [/^npm publish .*--provenance/, () => ({ leftOut: 'publishes' })],
  [/^tar |artifacts\//, () => ({ leftOut: 'one machine makes all binaries' })],
  [/prebuild -- .*arm64/, (command) => orMissing(CROSS_COMPILER, command)],
  [/check-prebuilds/, (command) => ({ command: isThere(CROSS_COMPILER) ? command : command.replace(' --all', '') })],
  [/^docker build/, () => orMissing('debootstrap', 'node deploy/try-image.mjs')],
  [/docker run/, () => ({ leftOut: 'part of deploy/try-image.mjs' })],
  [/^helm /, () => ({ leftOut: 'npm run test:real builds Helm, and checks the chart' })],
  [/./, (command) => ({ command })],
];

/** `[{ job, name, command?, leftOut? }]` of a workflow, with a step for each value of a matrix of platforms. */
export function stepsOf(workflow) {
  return JOBS.flatMap((job) => {
    const { steps, strategy } = workflow.jobs[job];
    return (strategy?.matrix.platform ?? ['']).flatMap((platform) =>
      steps.map((step) => {
        if (step.uses !== undefined) return { job, name: step.uses, leftOut: 'needs GitHub' };
        const run = step.run.trim().replaceAll('${{ matrix.platform }}', platform);
        const [, insteadOf] = INSTEAD.find(([pattern]) => pattern.test(run));
        const instead = insteadOf(run);
        return { job, name: step.name ?? (instead.command ?? run).split('\n')[0], ...instead };
      }),
    );
  });
}

function dryRun(steps) {
  const clone = mkdtempSync(path.join(tmpdir(), 'nixl-otel-release-'));
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const github = {
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'OWNER/opentelemetry-instrumentation-nixl',
    GITHUB_REF_NAME: `v${version}`,
  };
  try {
    execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone]);
    for (const { job, name, command, leftOut } of steps) {
      console.log(`=== ${job}: ${name}${leftOut === undefined ? '' : `: left out, ${leftOut}`}`);
      if (command === undefined) continue;
      const options = { cwd: clone, env: { ...process.env, ...github }, stdio: ['ignore', 'inherit', 'inherit'] };
      execFileSync('bash', ['-euo', 'pipefail', '-c', command], options);
    }
    console.log('=== all steps that were run have passed; nothing was published');
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const steps = stepsOf(parse(readFileSync(path.join(ROOT, '.github/workflows/release.yml'), 'utf8')));
  if (process.argv[2] === '--list') {
    for (const { job, name, command, leftOut } of steps) console.log(`${job}: ${command ?? `(${leftOut}) ${name}`}`);
  } else dryRun(steps);
}
