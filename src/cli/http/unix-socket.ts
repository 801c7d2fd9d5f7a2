/** Unix sockets: created with their permissions, and only where no process answers. */
import { once } from 'node:events';
import { type Stats, lstatSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { addressText, type UnixAddress } from '../../settings/listen-address.js';
import { Failure } from '../process/failure.js';

/**
 * Returns a function that listens on the path. It removes a socket that its process has left behind, and resolves to false if
 * a process answers. Closing the server removes the socket.
 * @throws Failure if the path is that of another kind of file; errors of listen()
 */
export function bindTo(address: UnixAddress): (server: Server) => Promise<boolean> {
  const { socketPath, mode } = address;
  return async (server) => {
    const found = socketAt(address);
    if (found !== undefined) {
      if (await isAnswered(socketPath)) return false;
      const now = socketAt(address); // another serve may have come first
      if (now?.ino === found.ino) unlinkSync(socketPath);
    }
    // The kernel makes the socket with all permissions but these, before listen() returns.
    const before = process.umask(0o777 & ~mode);
    try {
      server.listen(socketPath);
    } finally {
      process.umask(before);
    }
    try {
      await once(server, 'listening');
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
      throw error;
    }
  };
}

function socketAt(address: UnixAddress): Stats | undefined {
  const found = lstatSync(address.socketPath, { throwIfNoEntry: false });
  if (found === undefined || found.isSocket()) return found;
  throw new Failure(`cannot serve on ${addressText(address)}: there is a file that is no socket`);
}

/** @throws if the socket belongs to others */
async function isAnswered(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return false;
    throw error;
  } finally {
    socket.destroy();
  }
}
