import { createServer } from 'node:net';

/** Finds a free port of 127.0.0.1, for servers that cannot report a port that they choose. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
