/** The last export of a serve that ends: with it, every event that serve took out of a ring has reached the receiver. */
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { NixlTelemetryError, openRing, type Ring, RingWriter } from '../../src/rings.js';
import { start, temporaryDirectory, until } from '../cli/command.js';
import { type JsonPush, pointsIn } from '../support/otlp-points.js';

/** A receiver that sums up the bytes of delta pushes. It answers a push only after `answerWhen`. */
async function startSlowReceiver(answerWhen: () => Promise<void>) {
  const receiver = { url: '', bytes: 0, pushes: 0 };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const points = pointsIn(JSON.parse(Buffer.concat(parts).toString()) as JsonPush);
      receiver.bytes += points.find(({ metric }) => metric === 'agent_tx_bytes_total')?.value ?? 0;
      receiver.pushes++;
      void answerWhen().then(() => response.setHeader('content-type', 'application/json').end('{}'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/metrics`;
  return receiver;
}

/** Opens the ring once no other process has it. */
function openOnceReleased(file: string): Promise<Ring> {
  return until(() => {
    try {
      return openRing(file);
    } catch (error) {
      if (error instanceof NixlTelemetryError && error.state === 'busy') return undefined;
      throw error;
    }
  });
}

it('has every event that serve took, and follows the release of the rings', async () => {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'agent');
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 65_536 });
  let written = 0;
  let isWriting = true;
  const writing = (async () => {
    for (; isWriting; await nextTurn()) if (writer.push({ type: 0, value: 1n })) written++;
  })();
  let released: Promise<Ring> | undefined;
  const receiver = await startSlowReceiver(async () => void (await (released = openOnceReleased(file))));
  const flags = ['--exporter', 'otlp', '--otlp-protocol', 'http/json', '--temporality', 'delta'];
  const times = ['--export-interval', '3600000', '--shutdown-timeout', '120000'];
  const serve = start(['serve', '--dir', directory, '--state', 'off', ...times, ...flags], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: receiver.url,
  });
  await serve.says(/exports/);
  const wasBusy = (): boolean => written > 1000 && writer.pending < written;
  await until(wasBusy);
  const ended = await serve.stop('SIGTERM');
  expect(ended.code).toBe(0);
  expect(ended.stderr).not.toContain('did not end'); // at its time limit serve releases the rings in any case
  isWriting = false;
  await writing;
  const ring = await released!;
  const rest = ring.drain(65_536).length;
  ring.close();
  expect(receiver.pushes).toBe(1);
  expect(receiver.bytes).toBeGreaterThan(0);
  expect(receiver.bytes + rest).toBe(written);
});
