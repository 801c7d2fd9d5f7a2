/** Findings as OTLP log records, of a real serve, at a real receiver. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { pushAll } from '../support/rings.js';
import { run, start, temporaryDirectory } from './command.js';

interface LogRecord {
  readonly eventName: string;
  readonly severityText: string;
  readonly body: { readonly stringValue: string };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}
interface LogPush {
  readonly resourceLogs: readonly {
    readonly resource: { readonly attributes: LogRecord['attributes'] };
    readonly scopeLogs: readonly { readonly scope: { readonly name: string }; readonly logRecords: LogRecord[] }[];
  }[];
}

/** An event of an agent's failed operation: remote_disconnect. */
const ERROR = { type: 17, value: 1n };

/** Stores what comes in below /v1/logs. `status`: of the answers. */
async function receiver(status = (): number => 200) {
  const pushes: { readonly body: Buffer; readonly headers: NodeJS.Dict<string | string[]> }[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const bytes = Buffer.concat(parts);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      const code = status();
      if (request.url === '/v1/logs' && code === 200) pushes.push({ body, headers: request.headers });
      response.writeHead(request.url === '/v1/logs' ? code : 200, { 'content-type': request.headers['content-type'] });
      response.end(request.headers['content-type'] === 'application/json' ? '{}' : '');
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await expect.poll(() => server.listening).toBe(true);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pushes };
}

const FLAGS = ['--exporter', 'otlp', '--otlp-findings', 'on', '--drain-interval', '20'];

function failingAgent(directory: string) {
  const writer = new RingWriter(path.join(directory, 'tp0'), { wireVersion: 4, capacity: 64 });
  onTestFinished(() => writer.close());
  return () => pushAll(writer, [ERROR]);
}

it('sends the begin of a finding as JSON, without a page, with the headers of the metrics', async () => {
  const directory = temporaryDirectory();
  const fail = failingAgent(directory);
  const { url, pushes } = await receiver();
  const serve = start(['serve', '--dir', directory, ...FLAGS, '--otlp-protocol', 'http/json', '--otlp-endpoint', url], {
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'api-key=secret',
  });
  await serve.says(/exports from/);
  await expect.poll(() => (fail(), pushes.length)).toBeGreaterThan(0);
  const [{ body, headers }] = pushes as [(typeof pushes)[number]];
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'api-key': 'secret' });
  const [{ resource, scopeLogs }] = (JSON.parse(body.toString()) as LogPush).resourceLogs as [
    LogPush['resourceLogs'][number],
  ];
  expect(resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'nixl-otel' } });
  const [{ scope, logRecords }] = scopeLogs as [(typeof scopeLogs)[number]];
  expect(scope.name).toBe('opentelemetry-instrumentation-nixl');
  const { attributes, ...record } = logRecords[0]!;
  expect(record).toMatchObject({
    eventName: 'nixl.finding.begin',
    severityText: 'WARN',
    severityNumber: 13,
    body: { stringValue: expect.stringMatching(/^Transfers fail: tp0: /) as string },
  });
  const values = Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
  expect(values).toMatchObject({
    'nixl.finding.kind': 'failing',
    'nixl.finding.level': 'alarm',
    'nixl.finding.agents': { values: [{ stringValue: 'tp0' }] },
    'nixl.finding.agent_count': 1,
    'nixl.finding.since': expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
  });
  expect((await serve.stop('SIGTERM')).code).toBe(0);
});

it('sends protobuf to a whole address, beside a page', async () => {
  const directory = temporaryDirectory();
  const fail = failingAgent(directory);
  const { url, pushes } = await receiver();
  const serve = start(['serve', '--dir', directory, ...FLAGS, '--port', '0'], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/v1/metrics`,
  });
  await serve.says(/serves http/);
  await expect.poll(() => (fail(), pushes.length)).toBeGreaterThan(0);
  const [{ body, headers }] = pushes as [(typeof pushes)[number]];
  expect(headers['content-type']).toBe('application/x-protobuf');
  expect(body.toString('latin1')).toContain('nixl.finding.begin');
  await serve.stop('SIGTERM');
});

it('says once that the receiver refuses them, and goes on', async () => {
  const directory = temporaryDirectory();
  const fail = failingAgent(directory);
  const { url } = await receiver(() => 400);
  const serve = start(['serve', '--dir', directory, ...FLAGS, '--otlp-endpoint', url]);
  await serve.says(/exports from/);
  fail();
  await serve.says(/warning: otlp findings: the export failed: http:\/\/127\.0\.0\.1:\d+: /);
  expect((await serve.stop('SIGTERM')).code).toBe(0);
});

it.each([
  [['--exporter', 'prometheus', '--otlp-findings', 'on'], 'needs the exporter otlp', 2],
  [[...FLAGS, '--otlp-endpoint', 'http://127.0.0.1:1/custom'], 'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', 2],
])('refuses %j', async (flags, text, exit) => {
  const { code, stderr } = await run(['serve', '--dir', temporaryDirectory(), ...flags]);
  expect([code, stderr]).toEqual([exit, expect.stringContaining(text)]);
});

it('names the package that is missing, before it drains', async () => {
  const hooks = `export async function resolve(name, context, next) {
    if (!name.includes('exporter-logs')) return next(name, context);
    throw Object.assign(new Error('missing'), { code: 'ERR_MODULE_NOT_FOUND' });
  }`;
  const url = `data:text/javascript,${encodeURIComponent(hooks)}`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(url)});`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(register)}`;
  const { code, stderr } = await run(['serve', '--dir', temporaryDirectory(), ...FLAGS], { NODE_OPTIONS });
  expect([code, stderr]).toEqual([1, expect.stringContaining('npm install @opentelemetry/exporter-logs-otlp-proto')]);
});
