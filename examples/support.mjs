/** Parts that the examples share: a log, agents that move real memory, and a scrape of the Prometheus exposition. */
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { diag, DiagConsoleLogger, DiagLogLevel } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

// The package reports a builder that throws, or a place without rings, through diag, which is silent by default.
diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN);

/** The command nixl-otel of the checkout or of the installed package. */
const NIXL_OTEL = fileURLToPath(
  new URL('dist/cli/main.js', import.meta.resolve('opentelemetry-instrumentation-nixl/package.json')),
);

/** Returns whether the module with this URL was started, also by a path through a link. */
export function isProgram(url) {
  const [, started] = process.argv;
  return started !== undefined && realpathSync(started) === fileURLToPath(url);
}

/** Makes a directory for rings, and removes it at exit. */
export function ringDirectory() {
  const directory = mkdtempSync(path.join(tmpdir(), 'nixl-otel-example-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Runs agents for some seconds. */
export function runAgents(directory, { names = 'agent', agents = 2, seconds = 1, more = [], env = {} } = {}) {
  const flags = { dir: directory, name: names, agents, seconds, rate: 200 };
  const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
  const child = spawn(process.execPath, [NIXL_OTEL, 'simulate', ...args, ...more], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`nixl-otel simulate ended with ${code}`)),
    );
  });
}

/** Scrapes the metrics of this producer over HTTP, and prints the matching lines. */
export async function printMetrics(producer, pattern) {
  const port = await freePort();
  const exporter = new PrometheusExporter({
    host: '127.0.0.1',
    port,
    metricProducers: [producer],
    withoutScopeInfo: true,
  });
  const provider = new MeterProvider({ readers: [exporter] });
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  await provider.shutdown();
  for (const line of page.split('\n')) if (!line.startsWith('#') && pattern.test(line)) console.log(line);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
