/**
 * Ports for servers that cannot report a port that they choose, or that come back at their port.
 *
 * The kernel chooses ports for port 0 and for each outgoing connection, by default from 32768 on. One of these could be taken
 * before the server has it, or while the server is away. Ports below are taken by name only.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';

const MOST = 12_000;
const LEAST = 2_000;
const FIRST_UNPRIVILEGED = 1024;

/** Lowest port that the kernel chooses by itself. */
export const LOWEST_OF_KERNEL = Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);

/** Returns the first port below `lowest` for tests, and the number of ports. Undefined where there is no room for them. */
export function portsBelow(lowest: number): { first: number; count: number } | undefined {
  const first = Math.max(FIRST_UNPRIVILEGED, lowest - MOST);
  return lowest - first < LEAST ? undefined : { first, count: lowest - first };
}

const PORTS = portsBelow(LOWEST_OF_KERNEL);

/** Finds a free port. Until this process ends, no other test process finds the same one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const wished = PORTS === undefined ? 0 : PORTS.first + Math.floor(Math.random() * PORTS.count);
    const port = await freeOf(wished);
    if (port !== undefined && (await isClaimed(port))) return port;
  }
}

/** Claims the port for this process by its namesake of UDP, which leaves that of TCP to the server. */
async function isClaimed(port: number): Promise<boolean> {
  const claim = createSocket('udp4').bind({ port, address: '127.0.0.1', exclusive: true });
  const isBound = await reports(claim, 'listening');
  if (isBound) claim.unref();
  return isBound;
}

/** Returns the port if it is free; for 0 one that the kernel chooses. */
async function freeOf(wished: number): Promise<number | undefined> {
  const server = createServer().listen(wished, '127.0.0.1');
  if (!(await reports(server, 'listening'))) return undefined;
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Returns false if the emitter reports an error first. */
function reports(emitter: NodeJS.EventEmitter, event: string): Promise<boolean> {
  return once(emitter, event).then(
    () => true,
    () => false,
  );
}
