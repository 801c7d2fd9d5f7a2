/** Sockets of connections below TLS. */
import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';

/** Returns the socket of the connection that has the socket of a request: with TLS, another one. Undefined if it was gone early. */
export type SocketBelow = (socket: Socket) => Socket | undefined;

export function socketsBelow(server: Server | SecureServer): SocketBelow {
  if (!('setSecureContext' in server)) return (socket) => socket;
  // Node has no public path from the one to the other. Both have the same ends.
  const byEnds = new Map<string, Socket>();
  const below = new WeakMap<Socket, Socket | undefined>();
  // Before Node's own listener, which begins the handshake.
  server.prependListener('connection', (socket: Socket) => {
    const ends = endsOf(socket);
    byEnds.set(ends, socket);
    socket.once('close', () => {
      if (byEnds.get(ends) === socket) byEnds.delete(ends);
    });
  });
  server.on('secureConnection', (socket) => below.set(socket, byEnds.get(endsOf(socket))));
  return (socket) => below.get(socket);
}

function endsOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return [localAddress, localPort, remoteAddress, remotePort].join(' ');
}
