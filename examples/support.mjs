/** What the examples share: agents that really move memory, and a look at the Prometheus page. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

/** Built in a checkout, or brought along by the package for this platform. */
function transferSource() {
  const inPackage = (file) =>
    fileURLToPath(new URL(file, import.meta.resolve('opentelemetry-instrumentation-nixl/package.json')));
  const built = inPackage('native/build/transfer-source');
  if (existsSync(built)) return built;
  const libc = process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  return inPackage(`prebuilds/linux-${process.arch}-${libc}/transfer-source`);
}

/** A directory for rings that goes away with the program. */
export function ringDirectory() {
  const directory = mkdtempSync(path.join(tmpdir(), 'nixl-otel-example-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Runs agents for some seconds, as `npm start` does. */
export function runAgents(directory, { names = 'agent', agents = 2, seconds = 1, more = [], env = {} } = {}) {
  const flags = { dir: directory, name: names, agents, seconds, rate: 200 };
  const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
  const child = spawn(transferSource(), [...args, ...more], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`transfer-source ended with ${code}`))));
  });
}

/** Serves what this producer has to a real scrape, and prints the lines that match. */
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
