/** All tests with the package as installed beside each line of OpenTelemetry, by `installed.config.mjs`. */
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { ROOT, Project } from '../support/package.js';
import { type Cell, CELLS, nameOf, packages, programsOf } from './cells.js';

const tarball = inject('tarball');

/** Packages that tests use besides this one. */
const OTEL = [
  ...['api', 'core', 'resources', 'sdk-metrics', 'instrumentation', 'exporter-prometheus', 'sdk-node'],
  ...['exporter-metrics-otlp-http', 'exporter-metrics-otlp-proto', 'exporter-metrics-otlp-grpc'],
];
const TEST_TOOLS = ['vitest', '@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs', 'typescript'];

/** Files of the checkout that tests read. The package must contain all others. */
const COPIED = ['test', 'docs', 'examples', 'README.md'];

async function installedCell(cell: Cell): Promise<Project> {
  const { node, npm } = await programsOf(cell);
  const project = new Project(node);
  const { version, devDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
    devDependencies: Record<string, string>;
  };
  project.write('package.json', JSON.stringify({ name: 'a-service', version, private: true, type: 'module' }));
  const tools = TEST_TOOLS.map((name) => `${name}@${devDependencies[name]}`);
  await project.npm(npm, 'install', tarball, ...packages(cell.line, OTEL), ...tools);
  for (const name of COPIED.filter((name) => existsSync(path.join(ROOT, name)))) {
    cpSync(path.join(ROOT, name), path.join(project.directory, name), { recursive: true });
  }
  cpSync(path.join(ROOT, 'test/matrix/installed.config.mjs'), path.join(project.directory, 'vitest.config.mjs'));
  rmSync(path.join(project.directory, 'test/tsconfig.json')); // of the checkout
  const installed = path.join(project.directory, 'node_modules/opentelemetry-instrumentation-nixl');
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
