/** Platforms without rings: the package imports, its classes construct, one line says that telemetry is off. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadFirst } from '../../src/shm-bridge/addon.js';
import { MAIN, ROOT, RunningCommand, start } from '../cli/command.js';
import { dist } from '../support/child.js';
import { temporaryDirectory } from '../support/live.js';

/** Prints diag's lines, and what each class and function does. */
const SERVICE = `
import { diag, DiagLogLevel, metrics } from ${JSON.stringify(import.meta.resolve('@opentelemetry/api'))};
import { MeterProvider, MetricReader } from ${JSON.stringify(import.meta.resolve('@opentelemetry/sdk-metrics'))};
import { NixlInstrumentation, NixlMetricProducer } from ${JSON.stringify(dist('index.js'))};
import * as rings from ${JSON.stringify(dist('rings.js'))};
import { TestRings } from ${JSON.stringify(dist('testing.js'))};

const said = [];
const level = (name) => (...words) => void said.push(name + ' ' + words.slice(1).join(' '));
diag.setLogger({ error: level('error'), warn: level('warn'), info() {}, debug() {}, verbose() {} }, DiagLogLevel.ALL);
const linesOf = () => said.splice(0);

class Reader extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}
const reader = new Reader();
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
const metricsOf = async (reader) => (await reader.collect()).resourceMetrics.scopeMetrics.length;

const [directory] = process.argv.slice(2);
const found = {};
const instrumentation = new NixlInstrumentation({ directories: directory });
found.instrumentation = [await metricsOf(reader), await metricsOf(reader), ...linesOf()];
instrumentation.disable();
await import(${JSON.stringify(dist('register.js'))});
found.register = [await metricsOf(reader), ...linesOf()];
const producer = new NixlMetricProducer({ directories: directory });
found.producer = [await metricsOf(producer), ...linesOf()];
await producer.shutdown();

const writer = new rings.RingWriter(directory + '/agent');
found.writer = [writer.push({ name: 'a', value: 1 }), writer.pending, writer.problem];
writer.close();
const testRings = new TestRings();
const functions = { ...rings, 'TestRings.write': () => testRings.write('agent', { bytes: 1, timeUs: 1 }) };
for (const name of ['openRing', 'observeRing', 'inspectRing', 'TestRings.write']) {
  try {
    functions[name](directory + '/agent');
  } catch (error) {
    found[name] = [error.name, error.code, error.message];
  }
}
await testRings.counted();
testRings.close();
console.log(JSON.stringify(found));
`;

describe.each(['darwin', 'win32'])('on %s', (platform) => {
  const overridden = `data:text/javascript,Object.defineProperty(process, 'platform', { value: '${platform}' })`;
  const other = ['--import', overridden];
  const reason = `there are no rings on ${platform}-${process.arch}: agents of NIXL run on Linux, and write their rings there`;
  const variables = { TEMP: '/tmp' }; // tmpdir() needs it on win32
  const run = (...args: string[]) => new RunningCommand(process.execPath, [...other, MAIN, ...args], variables).ended;
  const off = `warn NIXL telemetry is off: ${reason}`;

  test('each entry point imports, each class constructs, each says once that there are no rings', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'service.mjs');
    writeFileSync(file, SERVICE);
    const env = { NIXL_TELEMETRY_DIR: directory, ...variables };
    const service = new RunningCommand(process.execPath, [...other, file, directory], env);
    const { code, stdout, stderr } = await service.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const refused = ['NixlTelemetryError', 'PLATFORM_UNSUPPORTED', reason];
    expect(JSON.parse(stdout)).toEqual({
      instrumentation: [0, 0, off],
      register: [0, off],
      producer: [0, off],
      writer: [false, 0, reason],
      openRing: refused,
      observeRing: refused,
      inspectRing: refused,
      'TestRings.write': refused,
    });
  });

  test.each([
    [['list', '--dir', '/no/such/directory']],
    [['read', '/no/such/ring']],
    [['top', '--once', '--dir', '/no/such/directory']],
    [['serve', '--dir', '/no/such/directory', '--port', '0']],
    [['demo', '--port', '0']],
  ])('%j says it and ends with exit code 4', async (args) => {
    const { code, stderr } = await run(...args);
    expect({ code, stderr }).toEqual({ code: 4, stderr: `nixl-otel: error: ${reason}\n` });
  });

  test('commands that need no rings work', async () => {
    const config = path.join(ROOT, 'examples/attributes.yaml');
    expect(await run('config', 'check', config)).toMatchObject({ code: 0, stderr: '' });
    const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0']);
    const [, url] = await serve.says(/serves (http:\S+)/);
    expect(await run('top', '--once', '--url', url!)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`no agents at ${url}`) as string,
    });
  });
});

test('a Linux without a binary is such a platform, and the message names the command that builds it', () => {
  const build = (platform: string) => () => loadFirst(['/no/such/nixl_otel.node'], platform);
  expect(build('linux-riscv64-glibc')).toThrow(
    expect.objectContaining({
      code: 'PLATFORM_UNSUPPORTED',
      message: expect.stringMatching(
        /^no native part for linux-riscv64-glibc could be loaded; build it with: .*; tried\n {2}.*$/,
      ) as string,
    }) as Error,
  );
  expect(build('linux-arm64-musl')).toThrow(expect.objectContaining({ code: 'ADDON_MISSING' }) as Error);
});
