/** serve with several exporters at once, against real servers, and with faulty modules. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { allDrained, type Totals } from '../support/live.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';
import { samplesOf } from '../support/page.js';
import { scrape, start, startTransferSource, temporaryDirectory, until, valueOf } from './command.js';
import { runHere } from './in-process.js';

/** Exporter that writes its last push into a file, agent by agent. */
const FILE_EXPORTER = `
  import { renameSync, writeFileSync } from 'node:fs';
  export default ({ outputPath }) => ({
    export({ scopeMetrics }, done) {
      const events = scopeMetrics.flatMap(({ metrics }) => metrics).find((m) => m.descriptor.name === 'nixl.events');
      const points = events?.dataPoints ?? [];
      const rows = points.map((p) => [p.attributes.agent_name, p.attributes.event, p.value]);
      writeFileSync(outputPath + '.new', JSON.stringify(rows));
      renameSync(outputPath + '.new', outputPath);
      done({ code: 0 });
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  });
`;

function moduleOf(source: string, name = 'mine.mjs'): string {
  const file = path.join(temporaryDirectory(), name);
  writeFileSync(file, source);
  return file;
}

/** Agent, event, value. */
type Row = readonly (string | number | undefined)[];

function sorted(rows: readonly Row[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

function total(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + Number(row[2]), 0);
}

describe('several exporters at once', () => {
  it('agree exactly while agents start and end', async () => {
    const dir = temporaryDirectory();
    const receiver = await startOtlpReceiver();
    const output = path.join(temporaryDirectory(), 'out.json');
    const exporters = `prometheus,otlp,${moduleOf(FILE_EXPORTER)}`;
    const flags = ['--otlp-protocol', 'http/json', '--otlp-endpoint', receiver.url, '--export-interval', '200'];
    const serve = start(['serve', '--dir', dir, '--port', '0', '--exporter', exporters, ...flags], {
      NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: output,
    });
    const [, url] = await serve.says(/serves (http:\S+) from/);
    const runs = ['a', 'b', 'c'].map((name, i) =>
      startTransferSource([
        '--dir',
        dir,
        '--agents',
        '2',
        '--name',
        name,
        '--seconds',
        String(0.5 + i / 2),
        '--errors',
        '5',
      ]),
    );
    const written = (await Promise.all(runs.map(({ ended }) => ended)))
      .map(({ stdout }) => (JSON.parse(stdout.trim().split('\n').at(-1)!) as Totals).totals.written)
      .reduce((a, b) => a + b);
    const counted = async () =>
      samplesOf(await scrape(url!))
        .filter(({ name }) => name === 'nixl_events_total')
        .map(({ labels, value }) => [labels['agent_name'], labels['event'], value]);
    const page = await until(async () => {
      const rows = await counted();
      return total(rows) === written && rows;
    });
    const pushed = () =>
      receiver
        .points()
        .filter(({ metric }) => metric === 'nixl.events')
        .map(({ attributes, value }) => [attributes['agent_name'], attributes['event'], value]);
    // On a busy machine the last push may be skipped, because the previous one has not ended.
    await until(() => total(pushed()) === written);
    const inFile = () => JSON.parse(readFileSync(output, 'utf8')) as Row[];
    await until(() => existsSync(output) && total(inFile()) === written);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
    expect(sorted(pushed())).toEqual(sorted(page));
    expect(sorted(inFile())).toEqual(sorted(page));
  });

  it('push protobuf over http by default, with the headers of the environment', async () => {
    const seen: { type: string | undefined; key: string | undefined; bytes: number }[] = [];
    const server = createServer((request, response) => {
      let bytes = 0;
      request.on('data', (part: Buffer) => (bytes += part.length));
      request.on('end', () => {
        seen.push({ type: request.headers['content-type'], key: request.headers['x-key'] as string, bytes });
        response.end();
      });
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const serve = start(['serve', '--dir', temporaryDirectory(), '--exporter', 'otlp'], {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret',
    });
    await serve.says(/exports from/);
    const { code, stderr } = await serve.stop('SIGTERM');
    expect(code).toBe(0);
    expect(seen.at(-1)).toMatchObject({ type: 'application/x-protobuf', key: 'secret' });
    expect(seen.at(-1)!.bytes).toBeGreaterThan(100);
    expect(stderr).not.toContain('secret');
  });

  it('reports once that a collector is down, and once that it has returned', async () => {
    const reserved = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => reserved.once('listening', resolve));
    const { port } = reserved.address() as AddressInfo;
    await new Promise((resolve) => reserved.close(resolve));
    const flags = ['--exporter', 'prometheus,otlp', '--port', '0', '--export-interval', '50'];
    const serve = start(['serve', '--dir', temporaryDirectory(), ...flags], {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '40',
    });
    const [, url] = await serve.says(/serves (http:\S+) from/);
    await serve.says(/exporter otlp failed/);
    expect(await scrape(url!)).toContain('nixl_collector_ticks');
    const server = createServer((request, response) => void request.resume().on('end', () => response.end('')));
    server.listen(port, '127.0.0.1');
    onTestFinished(() => void server.close());
    await serve.says(/exporter otlp works again, after \d+ failed exports/);
    const { code, stderr } = await serve.stop('SIGTERM');
    expect(code).toBe(0);
    // On a busy machine an answer may be late again. Each outage has one line at its beginning and one at its end.
    const lines = stderr
      .match(/exporter otlp (failed|works again)/g)!
      .map((line) => line.slice('exporter otlp '.length));
    expect(lines).toEqual(lines.map((_, i) => (i % 2 === 0 ? 'failed' : 'works again')));
  });
});

const GOOD = 'export(m, done) { done({ code: 0 }) }, async forceFlush() {}, async shutdown() {}';

describe('a custom exporter', () => {
  it('may be an object, a named export, a class, an async function or CommonJS', async () => {
    const folder = temporaryDirectory();
    const sources = {
      'object.mjs': `export default { ${GOOD} };`,
      'named.mjs': `export const exporter = { ${GOOD} };`,
      'class.mjs': `export default class { ${GOOD.replaceAll('}, ', '} ')} }`,
      'function.mjs': `export default async () => ({ ${GOOD} });`,
      'common.cjs': `module.exports = () => ({ ${GOOD} });`,
    };
    for (const [name, source] of Object.entries(sources)) writeFileSync(path.join(folder, name), source);
    const names = Object.keys(sources).map((name) => path.parse(name).name);
    const flags = ['--exporter', names.join(), '--exporter-dir', folder];
    const serve = start(['serve', '--dir', temporaryDirectory(), ...flags]);
    await serve.says(/exports from/);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  });

  it.each([
    ['is not there', undefined, /there is no exporter .*; built in are prometheus, otlp, console; searched/],
    ['does not parse', 'export default {', /cannot be loaded/],
    ['throws when it is loaded', 'throw new Error("no licence")', /cannot be loaded: no licence/],
    ['exports nothing', 'export const other = 1;', /exports no exporter; export default \(or as "exporter"\)/],
    ['exports a number', 'export default 7;', /is number; export default/],
    ['has no shutdown', 'export default { export() {}, async forceFlush() {} };', /an object without shutdown\(\)/],
    [
      'throws when it is made',
      'export default () => { throw new Error("no token") };',
      /failed when it was created: no token/,
    ],
    [
      'throws when it is looked at',
      'export default () => ({ get export() { throw new Error("no such thing") } });',
      /exporter \S+ cannot be used: no such thing\n$/,
    ],
    [
      'is a reader that wants no producer',
      `export default {
         collect() {}, setMetricProducer() { throw new Error("I have one") }, async forceFlush() {}, async shutdown() {},
       };`,
      /exporter \S+ cannot be used: I have one\n$/,
    ],
  ])('that %s is refused before a ring is touched', async (_, source, message) => {
    const file = source === undefined ? './no-such-file.mjs' : moduleOf(source);
    const { code, stderr } = await runHere(['serve', '--dir', temporaryDirectory(), '--exporter', file]);
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
  });

  it('that fails in any way disturbs no other one', async () => {
    const never = 'new Promise(() => {})';
    const faulty = {
      throws: [`export() { throw new Error('boom') }`, 'failed: boom'],
      rejects: [`async export() { throw new Error('token expired') }`, 'failed: token expired'],
      reportsNothing: [`export(m, done) { done() }`, 'failed: no reason given'],
      fails: [`export(m, done) { done({ code: 1, error: new Error('full') }) }`, 'failed: full'],
      hangs: [`export() {}`, 'timed out after'],
      hangsAtEnd: [`export(m, done) { done({ code: 0 }) }, shutdown: () => ${never}`, 'did not end in'],
      throwsAtEnd: [`export(m, done) { done({ code: 0 }) }, async shutdown() { throw new Error('stuck') }`, 'stuck'],
    };
    const files = Object.entries(faulty).map(([name, [methods]]) =>
      moduleOf(`export default { async forceFlush() {}, async shutdown() {}, ${methods} };`, `${name}.mjs`),
    );
    const flags = ['--exporter', `${files.join()},prometheus`, '--port', '0'];
    const times = ['--export-interval', '50', '--shutdown-timeout', '300'];
    const serve = start(['serve', '--dir', temporaryDirectory(), ...flags, ...times]);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    for (let i = 0; i < 3; i++) expect(await scrape(url!)).toContain('nixl_collector_ticks');
    const said = ([name, [, message]]: [string, string[]]) => new RegExp(`${name}\\.mjs\\b.* ${message}`);
    const [early, late] = [Object.entries(faulty).slice(0, 5), Object.entries(faulty).slice(5)];
    for (const one of early) await serve.says(said(one));
    const { code, stderr } = await serve.stop('SIGTERM');
    expect(code).toBe(0);
    for (const one of late) expect(stderr).toMatch(said(one));
  });

  it('that hangs during its loading can be stopped', async () => {
    const file = moduleOf(`console.error('loading'); await new Promise((resolve) => setTimeout(resolve, 2 ** 30));`);
    const serve = start(['serve', '--dir', temporaryDirectory(), '--exporter', file]);
    await serve.says(/loading/);
    expect(await serve.stop('SIGTERM')).toMatchObject({ signal: 'SIGTERM' });
  });

  it.each([
    ['is made with the producer', '{ metricProducers: [metricProducer] }'],
    ['is given the producer later', '{}'],
  ])('may be a reader that %s: each metric comes once', async (_, options) => {
    const output = path.join(temporaryDirectory(), 'out');
    const sdk = import.meta.resolve('@opentelemetry/sdk-metrics');
    const file = moduleOf(`
      import { MetricReader } from ${JSON.stringify(sdk)};
      import { writeFileSync } from 'node:fs';
      class Reader extends MetricReader {
        async onForceFlush() {}
        async onShutdown() {
          const { resourceMetrics } = await this.collect();
          const metrics = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
          const names = metrics.map(({ descriptor }) => descriptor.name);
          const service = resourceMetrics.resource.attributes['service.name'];
          writeFileSync(${JSON.stringify(output)}, JSON.stringify({ service, names }));
        }
      }
      export default ({ metricProducer }) => new Reader(${options});`);
    const serve = start(['serve', '--dir', temporaryDirectory(), '--exporter', file]);
    await serve.says(/exports from/);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
    const { service, names } = JSON.parse(readFileSync(output, 'utf8')) as { service: string; names: string[] };
    expect(service).toBe('nixl-otel');
    expect(names).toContain('nixl.collector.ticks');
    expect(names).toEqual([...new Set(names)]);
  });
});

describe('a custom reader without a temporality', () => {
  it('gets cumulative metrics', async () => {
    const output = path.join(temporaryDirectory(), 'out');
    const file = moduleOf(`
      import { writeFileSync } from 'node:fs';
      let producer;
      export default {
        setMetricProducer(given) { producer = given },
        collect: () => producer.collect(),
        async forceFlush() {},
        async shutdown() {
          const { resourceMetrics, errors } = await this.collect();
          const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
          const { aggregationTemporality } = metrics.find((m) => m.descriptor.name === 'nixl.collector.ticks') ?? {};
          writeFileSync(${JSON.stringify(output)}, JSON.stringify([aggregationTemporality, errors.map(String)]));
        },
      };`);
    const serve = start(['serve', '--dir', temporaryDirectory(), '--exporter', file]);
    await serve.says(/exports from/);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(output, 'utf8'))).toEqual([AggregationTemporality.CUMULATIVE, []]);
  });
});

describe('exponential histograms', () => {
  it('reach the exporters that can show them, and no others', async () => {
    const directory = temporaryDirectory();
    const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
    for (const value of [3n, 3n, 100n]) writer.push({ type: 6, value });
    writer.close();
    const out = temporaryDirectory();
    const exporter = (name: string, selector: string): string =>
      moduleOf(
        `import { writeFileSync } from 'node:fs';
        export default {
          export({ scopeMetrics }, done) {
            const metrics = scopeMetrics.flatMap((scope) => scope.metrics);
            const found = metrics.find(({ descriptor }) => descriptor.name === 'agent_xfer_time_us');
            writeFileSync(${JSON.stringify(path.join(out, name))}, JSON.stringify(found));
            done({ code: 0 });
          },
          async forceFlush() {},
          async shutdown() {},
          ${selector}
        };`,
        `${name}.mjs`,
      );
    const selecting = exporter('selecting', 'selectAggregation: () => ({ type: 5, options: { maxSize: 2 } }),');
    const plain = exporter('plain', '');
    const file = path.join(out, 'console');
    const flags = ['--exporter', `prometheus,console,${selecting},${plain}`, '--console-file', file, '--port', '0'];
    const serve = start(['serve', '--dir', directory, ...flags, '--histograms', 'exponential']);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    await allDrained(directory);
    expect(valueOf(await scrape(url!), 'agent_xfer_time_us_bucket', 'le="10"')).toBe(2);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });

    const exported = (name: string): unknown => JSON.parse(readFileSync(path.join(out, name), 'utf8'));
    expect(exported('selecting')).toMatchObject({
      dataPointType: DataPointType.EXPONENTIAL_HISTOGRAM,
      dataPoints: [{ value: { count: 3, positive: { bucketCounts: [2, 1] } } }],
    });
    expect(exported('plain')).toMatchObject({ dataPointType: DataPointType.HISTOGRAM });
    expect(readFileSync(file, 'utf8')).toMatch(/name: 'agent_xfer_time_us'[^]*?dataPointType: 1,[^]*?zeroCount: 0/);
  });

  it('reach a custom reader that selects them', async () => {
    const output = path.join(temporaryDirectory(), 'out');
    const file = moduleOf(`
      import { writeFileSync } from 'node:fs';
      let producer;
      export default {
        setMetricProducer(given) { producer = given },
        collect: () => producer.collect(),
        selectAggregation: () => ({ type: 5 }),
        async forceFlush() {},
        async shutdown() {
          const { resourceMetrics } = await this.collect();
          const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
          const { dataPointType } = metrics.find((m) => m.descriptor.name === 'agent_xfer_time_us');
          writeFileSync(${JSON.stringify(output)}, String(dataPointType));
        },
      };`);
    const directory = temporaryDirectory();
    const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
    writer.push({ type: 6, value: 3n });
    writer.close();
    const serve = start(['serve', '--dir', directory, '--exporter', file]);
    await serve.says(/exports from/);
    await allDrained(directory);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
    expect(readFileSync(output, 'utf8')).toBe(String(DataPointType.EXPONENTIAL_HISTOGRAM));
  });
});

describe('the settings of a deployment', () => {
  it("start serve with NIXL's environment alone", async () => {
    const dir = temporaryDirectory();
    const serve = start(['serve'], {
      NIXL_TELEMETRY_ENABLE: 'y',
      NIXL_TELEMETRY_DIR: dir,
      NIXL_TELEMETRY_EXPORTER: 'prometheus',
      NIXL_TELEMETRY_PROMETHEUS_PORT: '0',
      NIXL_TELEMETRY_PROMETHEUS_LOCAL: 'y',
    });
    const [, url] = await serve.says(/serves (http:\/\/127.0.0.1\S+) from/);
    expect(await scrape(url!)).toContain('nixl_collector_ticks');
  });

  it.each([
    [{ OTEL_SDK_DISABLED: 'true' }, 'OTEL_SDK_DISABLED is true'],
    [{ NIXL_TELEMETRY_ENABLE: 'n' }, 'NIXL_TELEMETRY_ENABLE is n'],
    [{ NIXL_TELEMETRY_EXPORTER: 'NOP' }, 'NIXL_TELEMETRY_EXPORTER is NOP'],
    [{ OTEL_METRICS_EXPORTER: 'none' }, 'OTEL_METRICS_EXPORTER is none'],
  ])('switch it off with one line: %j', async (environment, line) => {
    const { code, stderr } = await runHere(['serve', '--dir', temporaryDirectory()], environment);
    expect(stderr).toContain(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(0);
  });

  it('switch it off with one line of a file, too', async () => {
    const file = moduleOf('serve: { exporter: none }', 'off.yaml');
    const { code, stderr } = await runHere(['serve', '--dir', temporaryDirectory(), '--config', file]);
    expect(stderr).toBe('nixl-otel: serve.exporter of the configuration file is none: nothing is read or exported\n');
    expect(code).toBe(0);
  });

  it('refuses a wrong variable by its name', async () => {
    const { code, stderr } = await runHere(['serve', '--dir', '/tmp'], { NIXL_TELEMETRY_RUN_INTERVAL: 'soon' });
    expect(stderr).toContain('NIXL_TELEMETRY_RUN_INTERVAL is "soon"');
    expect(code).toBe(2);
  });

  it('logs as JSON when asked to', async () => {
    const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0', '--log-format', 'json']);
    const [line] = await serve.says(/\{.*serves http.*\}/);
    expect(JSON.parse(line)).toMatchObject({ level: 'info', message: expect.stringContaining('serves') as string });
    await serve.stop();
  });
});

describe('health', () => {
  it('is served without prometheus if a file names a port', async () => {
    const file = moduleOf('serve: { exporter: console, port: 0 }', 'port.yaml');
    const serve = start(['serve', '--dir', temporaryDirectory(), '--config', file]);
    const [, url] = await serve.says(/serves (http:\S+) from|exports from/);
    expect((await fetch(new URL('/livez', url))).status).toBe(200);
  });

  it('is served beside the metrics, which are packed when asked for', async () => {
    const dir = temporaryDirectory();
    writeFileSync(path.join(dir, 'notes.txt'), 'this is no ring, but a text that somebody left here');
    const serve = start(['serve', '--dir', dir, '--port', '0']);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    const get = (where: string, headers = {}) => fetch(new URL(where, url), { headers });
    expect([(await get('/livez')).status, await (await get('/livez')).text()]).toEqual([200, 'alive\n']);
    const text = await until(async () => {
      const answer = await (await get('/readyz')).text();
      return answer.includes('warning') && answer;
    });
    expect(text).toMatch(/^ready, 0 agents; not read: 1 file\nwarning: ".*notes.txt" is corrupt: not a NIXL ring/);
    expect((await get('/metrics', { 'accept-encoding': 'gzip' })).headers.get('content-encoding')).toBe('gzip');
    expect((await get('/metrics', { 'accept-encoding': 'gzip;q=0' })).headers.get('content-encoding')).toBeNull();
  });
});
