/** IPv6 addresses in brackets, in every setting with an address. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parserOf } from '../../src/process/flag-parser.js';
import { SERVE_ROWS } from '../../src/settings/serve-rows.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { startGrpcReceiver, startOtlpReceiver } from '../support/otlp-receiver.js';
import { scrape, start, temporaryDirectory } from './command.js';
import { runHere } from './in-process.js';
import { settingsOf } from './serve-settings.js';

const HAS_IPV6 = readFileSync('/proc/net/if_inet6', 'utf8').includes('00000000000000000000000000000001');

describe('a host', () => {
  const hostName = parserOf(SERVE_ROWS.host.shape);

  it.each([
    ['[::1]', '::1'],
    ['::1', '::1'],
    ['[::]', '::'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['0.0.0.0', '0.0.0.0'],
    ['my-host.example', 'my-host.example'],
  ])('%s is %s', (text, host) => {
    expect(hostName(text)).toBe(host);
  });

  it.each(['', '[]', '[localhost]', '[::1', '::1]', '[::1]:80', 'localhost:80', 'http://localhost', 'a b', '::g'])(
    '%j is refused',
    (text) => {
      expect(() => hostName(text)).toThrow('Allowed: an address or a host name, without a port; IPv6 with or without');
    },
  );
});

describe('NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH', () => {
  const settings = (exporter: string, outputPath: string) =>
    settingsOf({}, { NIXL_TELEMETRY_EXPORTER: exporter, NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: outputPath });

  it('of prometheus is an address with a port', () => {
    expect(settings('prometheus', '[::1]:9090')).toMatchObject({ host: '::1', port: 9090 });
    for (const wrong of ['::1:9090', '[::g]:9090', '/file', 'host', 'host:99999', 'a b:1']) {
      expect(() => settings('prometheus', wrong)).toThrow(`NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH is "${wrong}"; allowed`);
    }
  });

  it.each([
    ['collector:4318', 'http://collector:4318'],
    ['collector', 'http://collector'],
    ['[::1]:4318/v1/metrics', 'http://[::1]:4318/v1/metrics'],
    ['https://collector/x', 'https://collector/x'],
  ])('of otlp, %s, is %s', (text, endpoint) => {
    expect(settings('otlp', text).otlpEndpoint).toBe(endpoint);
  });

  it.each([
    '/var/log/metrics',
    'ftp://collector',
    'http:collector',
    'http:///x',
    'file:/x',
    '::1:4318',
    '[::g]:1',
    'a b',
  ])('of otlp, %j, is refused', (text) => {
    expect(() => settings('otlp', text)).toThrow(
      `NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH is "${text}"; allowed: with the exporter otlp: host:port, or a URL`,
    );
  });
});

describe.skipIf(!HAS_IPV6)('[::1]', () => {
  it.each<[string, (file: string) => readonly [string[], NodeJS.ProcessEnv]]>([
    ['--host', () => [['--host', '[::1]'], {}]],
    ['--host without brackets', () => [['--host', '::1'], {}]],
    ['the file', (file) => [['--config', file], {}]],
    ['OTEL_EXPORTER_PROMETHEUS_HOST', () => [[], { OTEL_EXPORTER_PROMETHEUS_HOST: '[::1]' }]],
    [
      'NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH',
      () => [[], { NIXL_TELEMETRY_EXPORTER: 'prometheus', NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: '[::1]:1' }],
    ],
  ])('in %s is served, and the URL that is printed has it', async (_, given) => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'c.yaml');
    writeFileSync(file, "serve: { host: '[::1]' }");
    const rings = temporaryDirectory();
    new RingWriter(path.join(rings, 'agent'), { wireVersion: 4 }).push({ type: 0, value: 1 });
    const [flags, env] = given(file);
    const serve = start(['serve', '--dir', rings, '--port', '0', ...flags], env);
    const [, url] = await serve.says(/serves (\S+) from/);
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+\/metrics$/);
    expect(await scrape(url!)).toContain('# TYPE');
    const top = await runHere(['top', '--url', new URL('/', url).href, '--once', '--json', '--interval', '100']);
    expect(JSON.parse(top.stdout)).toMatchObject({ agents: [{ agent: 'agent' }] });
    expect((await serve.stop('SIGTERM')).code).toBe(0);
  });

  it('is served by demo, too', async () => {
    const demo = start(['demo', '--host', '[::1]', '--port', '0']);
    const [, url] = await demo.says(/Metrics: (http:\/\/\[::1\]:\d+\/metrics)/);
    expect((await fetch(url!)).status).toBe(200);
    expect((await demo.stop()).code).toBe(0);
  });

  it.each([
    ['http/protobuf', startOtlpReceiver],
    ['http/json', startOtlpReceiver],
    ['grpc', startGrpcReceiver],
  ] as const)('is pushed to with %s', async (protocol, startReceiver) => {
    for (const way of ['flag', 'variable']) {
      const receiver = await startReceiver({ host: '::1' });
      expect(receiver.url).toContain('[::1]');
      const flags = ['--exporter', 'otlp', '--otlp-protocol', protocol];
      const [more, env] =
        way === 'flag'
          ? [['--otlp-endpoint', receiver.url], {}]
          : [[], { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: receiver.url }];
      const serve = start(['serve', '--dir', temporaryDirectory(), ...flags, ...more], env);
      await serve.says(/exports from .*otlp to \[::1\]:\d+/);
      expect((await serve.stop('SIGTERM')).code).toBe(0);
      expect(receiver.headers).not.toEqual([]);
    }
  });
});
