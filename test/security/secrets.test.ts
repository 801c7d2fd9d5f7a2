/** Credentials of a collector appear in no log line and no page, at any level, also when exports fail. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { scrape, start, temporaryDirectory } from '../cli/command.js';

const SECRET = 'hunter2-of-the-collector';

/** Starts a collector that answers requests with this status. */
async function collector(status: number): Promise<{ port: number; first: Promise<IncomingMessage> }> {
  let arrived = (_: IncomingMessage): void => {};
  const first = new Promise<IncomingMessage>((resolve) => (arrived = resolve));
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(`you sent ${request.headers.authorization}`));
    arrived(request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, first };
}

test.each([
  ['http/protobuf', 200],
  ['http/protobuf', 401],
  ['http/json', 500],
  ['grpc', 500],
])('%s, answered with %i', async (protocol, status) => {
  const { port, first } = await collector(status);
  const env = {
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${SECRET},api-key=${SECRET}`,
    OTEL_EXPORTER_OTLP_ENDPOINT:
      protocol === 'grpc' ? `http://127.0.0.1:${port}` : `http://127.0.0.1:${port}/${SECRET}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    OTEL_LOG_LEVEL: 'all',
  };
  const flags = ['--exporter', 'prometheus,otlp', '--port', '0', '--export-interval', '100'];
  const serve = start(['serve', '--dir', temporaryDirectory(), ...flags], env);
  const [url] = await serve.says(/http:\S+metrics/);
  if (protocol === 'grpc') {
    await serve.says(/exporter otlp failed/);
  } else {
    expect((await first).headers).toMatchObject({ authorization: `Bearer ${SECRET}`, 'api-key': SECRET });
    if (status !== 200) await serve.says(/exporter otlp failed/);
  }
  const pages = [await scrape(url), await scrape(new URL('/readyz', url).href)];
  const { stdout, stderr } = await serve.stop();
  for (const text of [...pages, stdout, stderr]) expect(text).not.toContain(SECRET);
});

test('does not repeat a password of an unreachable endpoint', async () => {
  const flags = ['--exporter', 'otlp', '--export-interval', '100', '--shutdown-timeout', '100', '--otlp-endpoint'];
  const serve = start(
    ['serve', '--dir', temporaryDirectory(), ...flags, `http://user:${SECRET}@127.0.0.1:1/v1/metrics`],
    {
      OTEL_LOG_LEVEL: 'all',
    },
  );
  await serve.says(/exporter otlp failed/);
  expect((await serve.stop()).stderr).not.toContain(SECRET);
});
