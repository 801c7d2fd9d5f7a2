/** Services as their authors write and install them: the versions that npm chooses, on the Nodes of their line. */
import { cpSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { RunningCommand, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { codeOf } from '../support/docs.js';
import { freePort } from '../support/free-port.js';
import { Project } from '../support/package.js';
import { type Cell, CELLS, nameOf, packages, programsOf } from './cells.js';

const tarball = inject('tarball');

const SERVICES = new URL('services', import.meta.url).pathname;
const REGISTER = ['--import', 'opentelemetry-instrumentation-nixl/register'];
const AUTO = ['--import', '@opentelemetry/auto-instrumentations-node/register'];

/** Installs the service's packages, then this one: npm refuses, or all versions fit together. */
async function install(cell: Cell, names: readonly string[]): Promise<Project> {
  const { node, npm } = await programsOf(cell);
  const project = new Project(node);
  const plain = ['--strict-peer-deps', '--no-legacy-peer-deps', '--no-force'];
  await project.npm(npm, 'install', ...plain, ...packages(cell.line, names));
  await project.npm(npm, 'install', ...plain, tarball);
  await project.npm(npm, 'ls', '--all'); // fails when a version is missing or does not fit
  cpSync(SERVICES, project.directory, { recursive: true });
  return project;
}

async function showsTheMetrics(
  cell: Cell,
  project: Project,
  program: (port: string, directory: string) => string[],
  more = {},
) {
  const directory = rings();
  const port = String(await freePort());
  const environment = {
    NIXL_TELEMETRY_DIR: directory,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_TRACES_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: port,
    ...more,
  };
  const { node } = await programsOf(cell);
  const service = new RunningCommand(node, program(port, directory), environment, project.directory);
  await service.says(/started|serves http/); // it handles signals by then
  const page = await until(async () => {
    if (service.child.exitCode !== null) throw new Error(service.stderr);
    const text = await fetch(`http://127.0.0.1:${port}/metrics`)
      .then((response) => response.text())
      .catch(() => '');
    return valueOf(text, 'agent_tx_bytes_total') === 42 && valueOf(text, 'agent_xfer_time_us_count') === 2 && text;
  });
  expect(valueOf(page, 'agent_xfer_time_us_sum')).toBe(10);
  service.child.kill('SIGTERM');
  // It ends by itself: nothing in the package keeps it running.
  expect(await service.ended).toMatchObject({ code: 0, signal: null });
}

/** Directory with the ring of an ended agent, which still has all events. */
function rings(): string {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: 42n });
  for (const value of [3n, 7n]) writer.push({ type: 6, value });
  writer.close();
  return directory;
}

test.each(CELLS.map((cell) => [nameOf(cell), cell] as const))('a service of its line: %s', async (_, cell) => {
  const project = await install(cell, ['api', 'sdk-node', 'resources', 'exporter-prometheus']);
  await showsTheMetrics(cell, project, (port, directory) => [`sdk-${cell.otel}.mjs`, port, directory]);
  await showsTheMetrics(cell, project, (port, directory) => ['common.cjs', port, directory]);
  const [example] = codeOf('README.md');
  project.write('telemetry.mjs', example!);
  await showsTheMetrics(cell, project, () => ['--import', './telemetry.mjs', 'plain.mjs']);
});

test.each(CELLS.map((cell) => [nameOf(cell), cell] as const))('an SDK that a file describes: %s', async (_, cell) => {
  const project = await install(cell, ['api', 'sdk-node']);
  const file = (port: string) => {
    const exporter = { 'prometheus/development': { host: '127.0.0.1', port: Number(port) } };
    const config = { file_format: '1.0', meter_provider: { readers: [{ pull: { exporter } }] } };
    project.write('otel.yaml', JSON.stringify(config)); // JSON is YAML
    return [...REGISTER, 'from-file.mjs'];
  };
  await showsTheMetrics(cell, project, file, { OTEL_CONFIG_FILE: 'otel.yaml' });
});

test.each(CELLS.map((cell) => [nameOf(cell), cell] as const))('without code: %s', async (_, cell) => {
  const project = await install(cell, ['api', 'auto-instrumentations-node']);
  for (const imports of [
    [...AUTO, ...REGISTER],
    [...REGISTER, ...AUTO],
  ]) {
    await showsTheMetrics(cell, project, () => [...imports, 'plain.mjs']);
  }
});

test.each(CELLS.map((cell) => [nameOf(cell), cell] as const))('the command alone: %s', async (_, cell) => {
  const project = await install(cell, []);
  await showsTheMetrics(cell, project, () => ['node_modules/.bin/nixl-otel', 'serve']);
});
