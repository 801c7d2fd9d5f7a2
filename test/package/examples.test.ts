/** The examples, run as they stand from an installed package, and the packages that they need beside it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { TestRings } from '../../src/testing.js';
import { ROOT, RunningCommand, scrape, until, valueOf } from '../cli/command.js';
import { CELLS, packages } from '../matrix/cells.js';
import { freePort } from '../support/free-port.js';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.js';
import { Project, tool } from '../support/package.js';

const EXAMPLES = 'node_modules/opentelemetry-instrumentation-nixl/examples';
const SERVICE = path.join(ROOT, 'test/matrix/services/plain.mjs');

const tarball = inject('tarball');

async function install(...names: string[]): Promise<Project> {
  const project = new Project();
  await project.npm(await tool('npm@11.21.2', 'npm/bin/npm-cli.js'), 'install', tarball, ...names);
  return project;
}

describe('programs', () => {
  const commands = [...readFileSync(path.join(ROOT, 'examples/README.md'), 'utf8').matchAll(/^\| `node (.*?)` +\|/gm)]
    .map(([, command]) => command!)
    .filter((command) => !command.includes('--import'));

  it('the table has them', () => expect(commands.length).toBeGreaterThanOrEqual(7));

  it('each command of the table ends without an error', async () => {
    const project = await install('@opentelemetry/exporter-prometheus');
    for (const command of commands) {
      const args = command.replace(' [DIR]', '').replace('examples/', `${EXAMPLES}/`).split(' ');
      expect(await project.node(...args), command).toMatch(/\S/);
    }
  });
});

/** Keeps the instrumentations of OpenTelemetry from pushing spans and logs. */
const METRICS_ONLY = { OTEL_TRACES_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };

/** Starts a service whose agent has made a transfer. */
async function start(project: Project, args: readonly string[], more: NodeJS.ProcessEnv): Promise<RunningCommand> {
  const rings = new TestRings();
  onTestFinished(() => rings.close());
  rings.write('agent', { bytes: 42, timeUs: 7 });
  const environment = { NIXL_TELEMETRY_DIR: rings.directory, ...more };
  const service = new RunningCommand(process.execPath, args, environment, project.directory);
  await service.says(/started|metrics on/);
  return service;
}

async function showsTheMetrics(service: RunningCommand, port: string): Promise<void> {
  await until(async () => {
    const page = await scrape(`http://127.0.0.1:${port}/metrics`).catch(() => '');
    return valueOf(page, 'agent_tx_bytes_total', 'agent_name="agent"') === 42;
  });
  expect(await service.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
}

async function pushesTheMetrics(project: Project, args: readonly string[], more = {}): Promise<void> {
  const receiver = await startOtlpReceiver();
  const service = await start(project, args, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...more });
  expect(await service.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
  expect(receiver.points()).toContainEqual(expect.objectContaining({ metric: 'agent_tx_bytes_total', value: 42 }));
}

const withVersions = (...names: string[]): string[] => packages(CELLS[0]!.line, names);

it.each(['express', 'fastify'])('%s: the metrics on the port of the service', async (framework) => {
  const project = await install(`${framework}@5`, ...withVersions('api', 'exporter-prometheus', 'sdk-node'));
  const example = `${EXAMPLES}/${framework}.mjs`;
  const port = String(await freePort());
  const service = await start(project, [example], { PORT: port });
  expect(await scrape(`http://127.0.0.1:${port}/`)).toBe('hello\n');

  const second = new RunningCommand(process.execPath, [example], { PORT: port }, project.directory);
  const { code, stderr } = await second.ended;
  expect(stderr).toContain('EADDRINUSE');
  expect(code).toBe(1);

  await showsTheMetrics(service, port);
  expect(service.stderr).toBe('');
});

it('express with a telemetry.mjs: the metrics, and traces of Express', async () => {
  const names = ['api', 'auto-instrumentations-node', 'exporter-prometheus', 'instrumentation', 'sdk-node'];
  const project = await install('express@5', ...withVersions(...names));
  project.write('telemetry.mjs', readFileSync(path.join(ROOT, 'examples/telemetry.mjs'), 'utf8'));
  const [, rest] = readFileSync(path.join(ROOT, 'examples/express.mjs'), 'utf8').split('sdk.start();\n');
  const imports = `import express from 'express';\nimport { exporter, sdk } from './telemetry.mjs';\n`;
  project.write('service.mjs', imports + rest);
  const port = String(await freePort());
  const loader = ['--no-warnings', '--experimental-loader=@opentelemetry/instrumentation/hook.mjs'];
  const args = [...loader, '--import', './telemetry.mjs', 'service.mjs'];
  const service = await start(project, args, { ...METRICS_ONLY, OTEL_TRACES_EXPORTER: 'console', PORT: port });
  expect(await scrape(`http://127.0.0.1:${port}/`)).toBe('hello\n');
  await showsTheMetrics(service, port);
  expect(service.stdout).toContain('@opentelemetry/instrumentation-express');
  expect(service.stderr).toBe('');
});

const imported = (name: string, service = SERVICE): string[] => ['--import', `./${EXAMPLES}/${name}.mjs`, service];

it('a NodeSDK that is imported first', async () => {
  const names = ['api', 'exporter-metrics-otlp-proto', 'exporter-prometheus', 'sdk-node'];
  const project = await install(...withVersions(...names));
  await pushesTheMetrics(project, imported('node-sdk-otlp'));
  const port = String(await freePort());
  const service = await start(project, imported('node-sdk-prometheus'), { OTEL_EXPORTER_PROMETHEUS_PORT: port });
  await showsTheMetrics(service, port);
});

/** An ES module with a worker, which answers its own request. The worker pushes to another receiver. */
const SERVICE_WITH_WORKER = `
import { createServer } from 'node:http';
import { Worker } from 'node:worker_threads';

const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1', async () => {
  await fetch('http://127.0.0.1:' + server.address().port);
  console.log('started');
});
const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: process.env.RECEIVER_OF_WORKER };
new Worker(new URL('worker.mjs', import.meta.url), { env }).unref();
`;

it('a NodeSDK of a service with a worker: the main thread alone exports NIXL', async () => {
  const names = ['api', 'auto-instrumentations-node', 'exporter-prometheus', 'instrumentation', 'sdk-node'];
  const project = await install(...withVersions(...names));
  project.write('service.mjs', SERVICE_WITH_WORKER);
  project.write('worker.mjs', 'setInterval(() => {}, 1000);');
  const port = String(await freePort());
  const service = await start(project, imported('node-sdk-prometheus', 'service.mjs'), {
    OTEL_EXPORTER_PROMETHEUS_PORT: port,
  });
  await showsTheMetrics(service, port);
  expect(service.stderr).toBe(''); // a second exporter would not get the port

  const [ofMain, ofWorker] = [await startOtlpReceiver(), await startOtlpReceiver()];
  const loader = ['--no-warnings', '--experimental-loader=@opentelemetry/instrumentation/hook.mjs'];
  const endpoints = { OTEL_EXPORTER_OTLP_ENDPOINT: ofMain.url, RECEIVER_OF_WORKER: ofWorker.url };
  const variables = {
    ...METRICS_ONLY,
    ...endpoints,
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    OTEL_METRIC_EXPORT_TIMEOUT: '400',
  };
  const auto = await start(project, [...loader, ...imported('auto-instrumentations', 'service.mjs')], variables);
  const pushed = (receiver: OtlpReceiver, name: string) => receiver.points().some(({ metric }) => metric === name);
  await until(() => pushed(ofMain, 'http.server.request.duration') && pushed(ofMain, 'agent_tx_bytes_total'));
  await until(() => pushed(ofWorker, 'nodejs.eventloop.utilization'));
  expect(pushed(ofWorker, 'agent_tx_bytes_total')).toBe(false);
  expect(await auto.stop('SIGTERM')).toMatchObject({ code: 0, signal: null });
});

it('auto-instrumentations: by a file, and by two imports', async () => {
  const project = await install(...withVersions('api', 'auto-instrumentations-node', 'sdk-node'));
  await pushesTheMetrics(project, imported('auto-instrumentations'), METRICS_ONLY);

  const modules = ['@opentelemetry/auto-instrumentations-node/register', 'opentelemetry-instrumentation-nixl/register'];
  const args = [...modules.flatMap((module) => ['--import', module]), SERVICE];
  const port = String(await freePort());
  const prometheus = { OTEL_METRICS_EXPORTER: 'prometheus', OTEL_EXPORTER_PROMETHEUS_PORT: port };
  await showsTheMetrics(await start(project, args, { ...METRICS_ONLY, ...prometheus }), port);
});
