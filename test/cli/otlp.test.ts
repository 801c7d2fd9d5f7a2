/** OTLP in each protocol at real receivers: every number, the headers, compression, certificates. */
import { hostname } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { allDrained } from '../support/live.js';
import type { ExponentialPoint } from '../support/otlp-points.js';
import { type OtlpReceiver, startGrpcReceiver, startOtlpReceiver, TLS } from '../support/otlp-receiver.js';
import { scrape, start, temporaryDirectory, valueOf } from './command.js';
import { runHere } from './in-process.js';

const PROTOCOLS = [
  ['http/json', startOtlpReceiver],
  ['http/protobuf', startOtlpReceiver],
  ['grpc', startGrpcReceiver],
] as const;

/** Sent bytes, and durations in us. */
const BYTES = [4096n, 2n ** 40n + 1n];
const DURATIONS = [7n, 12n, 30_000_000n];

let directory = '';
beforeEach(() => {
  directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  for (const value of BYTES) writer.push({ type: 0, value });
  for (const value of DURATIONS) writer.push({ type: 6, value });
  writer.close();
});

/** Runs serve until its last push, at its end. */
async function push(
  protocol: string,
  receiver: OtlpReceiver,
  environment: NodeJS.ProcessEnv = {},
  more: readonly string[] = [],
): Promise<string> {
  const flags = ['--exporter', 'otlp', '--export-interval', '60000', '--otlp-protocol', protocol];
  // A machine under load may need longer than the default of ten seconds.
  const limits = ['--shutdown-timeout', '120000'];
  const serve = start(['serve', '--dir', directory, ...flags, ...limits, ...more], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: '50000',
    ...environment,
  });
  await serve.says(/exports from/);
  await allDrained(directory);
  const { code, stderr } = await serve.stop('SIGTERM');
  expect(code).toBe(0);
  return stderr;
}

function expectAll(receiver: OtlpReceiver): void {
  const points = receiver.points();
  const one = (metric: string) => points.find((point) => point.metric === metric);
  expect(one('agent_tx_bytes_total')).toEqual({
    metric: 'agent_tx_bytes_total',
    attributes: { agent_name: 'agent', hostname: hostname() },
    startTimeMs: expect.any(Number) as number,
    value: 4096 + 2 ** 40 + 1,
  });
  const { count, sum, bounds, buckets } = one('agent_xfer_time_us')!.histogram!;
  expect({ count, sum }).toEqual({ count: 3, sum: 30_000_019 });
  expect(bounds.slice(0, 3)).toEqual([10, 25, 50]);
  expect(buckets).toEqual([1, 1, ...Array<number>(bounds.length - 2).fill(0), 1]);
}

function exponentialOf(receiver: OtlpReceiver, metric: string): ExponentialPoint {
  return receiver.points().find((point) => point.metric === metric)!.exponential!;
}

describe.each(PROTOCOLS)('%s', (protocol, startReceiver) => {
  it('arrives exactly, with the headers and the compression of the environment', async () => {
    const receiver = await startReceiver();
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret', OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' };
    expect(await push(protocol, receiver, env)).not.toContain('secret');
    expectAll(receiver);
    // A grpc server decompresses the push and does not report the compression.
    const encoding = protocol === 'grpc' ? {} : { 'content-encoding': 'gzip' };
    expect(receiver.headers.at(-1)).toMatchObject({ 'x-key': 'secret', ...encoding });
  });

  // From 7 us to 30 s there are 354 buckets of scale 4. Merged by fours they are 89, of which 3 have a value.
  const buckets = Array<number>(89).fill(0).fill(1, 0, 1).fill(1, 3, 4).fill(1, 88);

  it('arrives as exponential histograms: cumulative, in microseconds', async () => {
    const receiver = await startReceiver();
    await push(protocol, receiver, {}, ['--histograms', 'exponential']);
    const { max, ...point } = exponentialOf(receiver, 'agent_xfer_time_us');
    expect(point).toEqual({
      ...{ temporality: 2, count: 3, sum: 30_000_019, min: 7 },
      ...{ scale: 2, zeroCount: 0, offset: 11, buckets },
    });
    expect(Math.abs(max! / 30_000_000 - 1)).toBeLessThan(0.023);
    const bytes = receiver.points().find(({ metric }) => metric === 'agent_tx_bytes_total');
    expect(bytes!.value).toBe(4096 + 2 ** 40 + 1);
  });

  it("arrives as exponential histograms by OpenTelemetry's variable: deltas, in seconds", async () => {
    const receiver = await startReceiver();
    const environment = {
      OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: 'base2_exponential_bucket_histogram',
      OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
    };
    await push(protocol, receiver, environment, ['--naming', 'otel']);
    const { max, ...point } = exponentialOf(receiver, 'nixl.transfer.duration');
    expect(point).toEqual({
      ...{ temporality: 1, count: 3, sum: 30.000019, min: 0.000007 },
      ...{ scale: 2, zeroCount: 0, offset: -69, buckets },
    });
    expect(Math.abs(max! / 30 - 1)).toBeLessThan(0.023);
  });

  it('goes through TLS uncompressed, with certificates for both sides', async () => {
    const receiver = await startReceiver({ tls: true });
    await push(protocol, receiver, {
      OTEL_EXPORTER_OTLP_CERTIFICATE: TLS.certificate,
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: TLS.certificate,
      OTEL_EXPORTER_OTLP_CLIENT_KEY: TLS.key,
    });
    expectAll(receiver);
  });

  it('is not sent to a server with an unknown certificate, and nothing else stops', async () => {
    const receiver = await startReceiver({ tls: true });
    const flags = ['--exporter', 'otlp,prometheus', '--port', '0', '--export-interval', '200', '--otlp-protocol'];
    const serve = start(['serve', '--dir', directory, ...flags, protocol, '--otlp-endpoint', receiver.url]);
    const [, page] = await serve.says(/serves (http:\S+)/);
    await serve.says(/exporter otlp failed: .*/);
    await allDrained(directory);
    expect(valueOf(await scrape(page!), 'agent_tx_bytes_total')).toBe(4096 + 2 ** 40 + 1);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
    expect(receiver.headers).toEqual([]);
  });
});

describe('wrong settings of OTLP are refused by name', () => {
  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'not a url'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd'],
    ['OTEL_EXPORTER_OTLP_CERTIFICATE', '/no/such/file.pem'],
    ['OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY', '/no/such/file.pem'],
  ])('%s=%s', async (variable, value) => {
    const { code, stderr } = await runHere(['serve', '--dir', directory, '--exporter', 'otlp'], { [variable]: value });
    expect(stderr).toContain(`${variable} is "${value}"`);
    expect(code).toBe(2);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:abc'],
    ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'collector:abc'],
  ])('%s=%s of grpc', async (variable, value) => {
    const flags = ['--exporter', 'otlp', '--otlp-protocol', 'grpc'];
    const { code, stderr } = await runHere(['serve', '--dir', directory, ...flags], { [variable]: value });
    expect(stderr).toContain(`${variable} is "${value}"`);
    expect(code).toBe(2);
  });

  it('but a socket is an address of grpc, and is shown unchanged', async () => {
    const flags = ['--exporter', 'otlp', '--otlp-protocol', 'grpc', '--shutdown-timeout', '100'];
    const serve = start(['serve', '--dir', directory, ...flags], {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'unix:///run/no-such.sock',
    });
    await serve.says(/otlp to unix:\/\/\/run\/no-such\.sock[;,]/);
    await serve.stop('SIGTERM');
  });

  it("but NIXL's form of an address is accepted, also without a scheme", async () => {
    const receiver = await startOtlpReceiver();
    const serve = start(['serve', '--dir', directory], {
      NIXL_TELEMETRY_EXPORTER: 'otlp',
      NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH: new URL(receiver.url).host,
    });
    await serve.says(/exports from/);
    await allDrained(directory);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
    expectAll(receiver);
  });

  it('but only with the exporter otlp', async () => {
    const serve = start(['serve', '--dir', directory, '--port', '0'], { OTEL_EXPORTER_OTLP_COMPRESSION: 'zstd' });
    await serve.says(/serves http/);
    expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  });
});
