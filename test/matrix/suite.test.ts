/** All tests with the package as installed beside each line of OpenTelemetry, by `installed.config.mjs`. */
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { NAME, Project, ROOT } from '../support/package.js';
import { type Cell, CELLS, nameOf, packages, programsOf } from './cells.js';

const tarball = inject('tarball');

/** Packages that tests use besides this one. */
const OTEL = [
  ...['api', 'core', 'resources', 'sdk-metrics', 'instrumentation', 'exporter-prometheus', 'sdk-node'],
  ...['exporter-metrics-otlp-http', 'exporter-metrics-otlp-proto', 'exporter-metrics-otlp-grpc'],
];
const TEST_TOOLS = [
  ...['vitest', 'fast-check', 'ajv', '@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs', 'typescript'],
  'node-api-headers',
];

/** Files of the checkout that tests read. */
const COPIED = ['test', 'bench/support', 'README.md'];
/** Files that tests read, and that the package must contain. */
const OF_THE_PACKAGE = ['docs', 'examples', 'man', 'native', 'config.schema.json'];

async function installedCell(cell: Cell): Promise<Project> {
  const { node, npm } = await programsOf(cell);
  const project = new Project(node);
  const { version, exports, devDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
    exports: object;
    devDependencies: Record<string, string>;
  };
  project.write('package.json', JSON.stringify({ name: 'a-service', version, exports, private: true, type: 'module' }));
  const tools = TEST_TOOLS.map((name) => `${name}@${devDependencies[name]}`);
  await project.npm(npm, 'install', tarball, ...packages(cell.line, OTEL), ...tools);
  for (const name of COPIED.filter((name) => existsSync(path.join(ROOT, name)))) {
    cpSync(path.join(ROOT, name), path.join(project.directory, name), { recursive: true });
  }
  cpSync(path.join(ROOT, 'test/matrix/installed.config.mjs'), path.join(project.directory, 'vitest.config.mjs'));
  rmSync(path.join(project.directory, 'test/tsconfig.json')); // of the checkout
  const installed = path.join(project.directory, 'node_modules', NAME);
  for (const name of OF_THE_PACKAGE) {
    cpSync(path.join(installed, name), path.join(project.directory, name), { recursive: true });
  }
  symlinkSync(path.join(installed, 'dist'), path.join(project.directory, 'dist'));
  mkdirSync(path.join(project.directory, 'native/build'), { recursive: true });
  const source = path.join(installed, `prebuilds/linux-${process.arch}-glibc/transfer-source`);
  symlinkSync(source, path.join(project.directory, 'native/build/transfer-source'));
  return project;
}

test.each(CELLS.map((cell) => [nameOf(cell), cell] as const))('%s', async (_, cell) => {
  const project = await installedCell(cell);
  const sdk = path.join(project.directory, 'node_modules/@opentelemetry/sdk-metrics/package.json');
  const { version } = JSON.parse(readFileSync(sdk, 'utf8')) as { version: string };
  expect(version.split('.')[0]).toBe(cell.otel);
  const output = await project.run('node_modules/vitest/vitest.mjs', 'run', '--reporter=dot');
  const [summary] = /^ *Tests .*$/m.exec(output) ?? [];
  expect(summary).toMatch(/passed/);
  console.log(`${nameOf(cell)} (sdk-metrics ${version}): ${summary!.trim()}`);
});
