import { type AddressInfo, createServer } from 'node:net';

/** Finds a free port of 127.0.0.1, for servers that cannot report a port that they choose. */
export async function freePort(): Promise<number> {
  const reserved = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => reserved.once('listening', resolve));
  const { port } = reserved.address() as AddressInfo;
  await new Promise((resolve) => reserved.close(resolve));
  return port;
}
