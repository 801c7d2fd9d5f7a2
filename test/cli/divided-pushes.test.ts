/** Pushes that are larger than their OTLP receiver takes: they arrive in parts, each point once. */
import path from 'node:path';
import { expect, it } from 'vitest';
import { startGrpcReceiver, startOtlpReceiver } from '../support/otlp-receiver.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { start, temporaryDirectory, until } from './command.js';

const AGENTS = 30;
/** Less than a fifth of the whole push. One agent has less. */
const MOST_BYTES = 65_536;

it.each([
  ['grpc', startGrpcReceiver],
  ['http/protobuf', startOtlpReceiver],
] as const)('by %s: every event of every agent arrives once', async (protocol, startReceiver) => {
  const directory = temporaryDirectory();
  const writers = Array.from(
    { length: AGENTS },
    (_, i) => new RingWriter(path.join(directory, `agent-${i}`), { wireVersion: 4 }),
  );
  for (const [i, writer] of writers.entries()) writer.push({ type: 0, value: i + 1 });
  const receiver = await startReceiver({ mostBytes: MOST_BYTES });
  const flags = ['--exporter', 'otlp', '--otlp-protocol', protocol, '--export-interval', '1000'];
  const serve = start(['serve', '--dir', directory, ...flags, '--temporality', 'delta'], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: receiver.url,
  });
  const bytesOf = (): Record<string, number> => {
    const sums: Record<string, number> = {};
    for (const { metric, attributes, value = 0 } of receiver.allPoints()) {
      const agent = attributes['agent_name'];
      if (metric === 'agent_tx_bytes_total' && agent !== undefined) sums[agent] = (sums[agent] ?? 0) + value;
    }
    return sums;
  };
  const written = (more: number) => Object.fromEntries(writers.map((_, i) => [`agent-${i}`, i + 1 + more]));
  await serve.says(/exporter otlp: the receiver takes no push of this size: it gets \d+ parts/);
  await until(() => Object.keys(bytesOf()).length === AGENTS);
  for (const writer of writers) writer.push({ type: 0, value: 1000 });
  await until(() => Object.values(bytesOf()).every((sum) => sum > 1000));
  const { stderr } = await serve.stop('SIGTERM');
  expect(bytesOf()).toEqual(written(1000));
  // A machine under load may need longer for the first push than its interval allows: it is repeated.
  expect(stderr.replaceAll(/.*(timed out after|works again, after 1 failed).*/g, '')).not.toContain('failed');
  expect(stderr.match(/parts/g)).toHaveLength(1);
  const pages = receiver.allPoints().map(({ metric }) => metric);
  expect(pages).toContain('nixl.collector.ticks');
});

it('says what fails if the receiver takes no part', async () => {
  const directory = temporaryDirectory();
  new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 }).push({ type: 0, value: 1 });
  const receiver = await startGrpcReceiver({ mostBytes: 1 });
  const flags = ['--exporter', 'otlp', '--otlp-protocol', 'grpc', '--export-interval', '1000'];
  const serve = start(['serve', '--dir', directory, ...flags], { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: receiver.url });
  // On a machine under load a push may time out before.
  await serve.says(
    /exporter otlp (failed|now fails for another reason): http\S+: grpc status 8 RESOURCE_EXHAUSTED: .*larger than max/i,
  );
});
