/** Test runners, with the configurations that the page shows. */
import { expect } from 'vitest';
import { codeOf } from '../support/docs.js';
import type { Project } from '../support/package.js';
import { nameAndVersion, PAGE, type Row } from './page.js';
import { projectWith, shownTest } from './service.js';

interface Runner {
  readonly packages: (versions: string) => string[];
  readonly files: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

/** A configuration of the page, by a part of its text. */
function recipe(part: string): string {
  const found = codeOf(PAGE).filter((code) => code.includes(part));
  if (found.length !== 1) throw new Error(`${PAGE} has ${found.length} examples with ${part}`);
  return found[0]!;
}

const JEST = 'node_modules/jest/bin/jest.js';

const TS_JEST = ['ts-jest@29.4.15', 'typescript@5.9.3', '@types/jest@30', '@types/node@20'];
/** Without types: the section TypeScript checks them. */
const TSCONFIG = JSON.stringify({
  compilerOptions: { module: 'commonjs', target: 'es2022', esModuleInterop: true, isolatedModules: true },
});

const RUNNERS: Readonly<Record<string, Runner>> = {
  // Two files: each has its own copy of the modules, beside one native part.
  'Jest, CommonJS tests': {
    packages: (version) => [`jest@${version}`, '@swc/jest@0.2.39', '@swc/core'],
    files: { 'one.test.js': shownTest('Jest', 'CommonJS'), 'two.test.js': shownTest('Jest', 'CommonJS') },
    args: [JEST],
  },
  'Jest, ES modules': {
    packages: (version) => [`jest@${version}`],
    files: { 'one.test.mjs': shownTest('Jest'), 'two.test.mjs': shownTest('Jest') },
    args: ['--experimental-vm-modules', JEST],
  },
  'Jest, TypeScript by ts-jest 29.4.15': {
    packages: (version) => [`jest@${version}`, ...TS_JEST, '@swc/jest@0.2.39', '@swc/core'],
    files: { 'one.test.ts': shownTest('Jest'), 'two.test.ts': shownTest('Jest') },
    args: [JEST],
  },
  vitest: {
    packages: (version) => [`vitest@${version}`],
    files: { 'one.test.mjs': shownTest('vitest') },
    args: ['node_modules/vitest/vitest.mjs', 'run'],
  },
};

export async function proveTestRunner(row: Row, tarball: string): Promise<void> {
  const { name, version, how } = nameAndVersion(row['Test runner']!);
  const key = how === undefined ? name : `${name}, ${how}`;
  const { packages, files, args } = RUNNERS[key]!;
  const project = await projectWith(row['Node.js']!, tarball, ...packages(version));
  project.write('package.json', '{ "name": "a-service", "private": true }'); // CommonJS
  if (name === 'Jest') project.write('jest.config.cjs', recipe(how === 'ES modules' ? 'transform: {}' : '@swc/jest'));
  if (how?.startsWith('TypeScript') === true) {
    project.write('tsconfig.json', TSCONFIG);
    const [begin, end] = recipe('@swc/jest').split('  },\n  transformIgnorePatterns');
    const own = "    '\\\\.tsx?$': 'ts-jest',\n";
    project.write('jest.config.cjs', `${begin}${own}  },\n  transformIgnorePatterns${end}`);
  }
  for (const [file, text] of Object.entries(files)) project.write(file, text);
  await runTests(project, args, Object.keys(files).length);
}

async function runTests(project: Project, args: readonly string[], files: number): Promise<void> {
  const { stdout, stderr } = await project.withVariables({ NO_COLOR: '1' }).outputs(project.nodeFile, ...args);
  expect(`${stdout}${stderr}`).toMatch(new RegExp(`Tests:? +${files} passed`));
}
