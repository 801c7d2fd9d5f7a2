/**
 * Ports for servers that cannot report a port that they choose, or that come back at their port.
 *
 * Ports that the kernel chooses, for port 0 and for each outgoing connection, begin at 32768. One of these could be taken before
 * the server has it, or while the server is away. Ports below are taken by name only.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const FIRST = 20_000;
const COUNT = 12_000;

/** Finds a free port. Until this process ends, no other test process finds the same one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if ((await isClaimed(port)) && (await isFree(port))) return port;
  }
}

/** Claims the port for this process by its namesake of UDP, which leaves that of TCP to the server. */
async function isClaimed(port: number): Promise<boolean> {
  const claim = createSocket('udp4').bind({ port, address: '127.0.0.1', exclusive: true });
  const isBound = await reports(claim, 'listening');
  if (isBound) claim.unref();
  return isBound;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  if (!(await reports(server, 'listening'))) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/** Returns false if the emitter reports an error first. */
function reports(emitter: NodeJS.EventEmitter, event: string): Promise<boolean> {
  return once(emitter, event).then(
    () => true,
    () => false,
  );
}
