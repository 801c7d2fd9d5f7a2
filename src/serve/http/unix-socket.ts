/** Unix sockets: created with their permissions, only where no process answers, and removed only by their own process. */
import { once } from 'node:events';
import { type BigIntStats, closeSync, lstatSync, openSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { addressText, type UnixAddress } from '../../settings/listen-address.js';
import { Failure } from '../../process/failure.js';

/** Linux: needs no permission to read the folder. Node has no constant for it. */
const O_PATH = 0o10000000;

export class UnixSocket {
  readonly #address: UnixAddress;
  /** Descriptor of the socket's folder. Undefined while the server does not listen, as is the next one. */
  #folder: number | undefined;
  #own: BigIntStats | undefined;

  constructor(address: UnixAddress) {
    this.#address = address;
  }

  /**
   * Listens on the path. Removes a socket that its process has left behind. Resolves to false if a process answers.
   * @throws Failure if the path is that of another kind of file, or of a socket to which this user may not connect; errors of
   * listen()
   */
  async bind(server: Server): Promise<boolean> {
    const { socketPath, mode } = this.#address;
    const found = this.#find();
    if (found !== undefined) {
      if (await this.#isAnswered()) return false;
      if (isUnchanged(this.#find(), found)) unlinkSync(socketPath); // otherwise another serve came first
    }
    // At its end libuv removes the path that it listened on, even if another process has the name by then. A path through a
    // descriptor ends before that: see release().
    this.#folder = openSync(path.dirname(socketPath), O_PATH);
    // The kernel makes the socket with all permissions but these, before listen() returns.
    const before = process.umask(0o777 & ~mode);
    try {
      server.listen(`/proc/self/fd/${this.#folder}/${path.basename(socketPath)}`);
    } finally {
      process.umask(before);
    }
    try {
      await once(server, 'listening');
      this.#own = this.#find();
      return true;
    } catch (error) {
      this.release();
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
      throw error;
    }
  }

  /** Removes the socket, unless another file has its name by now. Call it before the server closes. */
  release(): void {
    if (this.#folder === undefined) return;
    closeSync(this.#folder);
    this.#folder = undefined;
    const own = this.#own;
    this.#own = undefined;
    try {
      // No other file can have its number, which it keeps until the server closes.
      if (own !== undefined && isSame(this.#find(), own)) unlinkSync(this.#address.socketPath);
    } catch {
      // The next serve replaces a socket that no process answers at.
    }
  }

  /** @throws Failure if there is another kind of file */
  #find(): BigIntStats | undefined {
    const found = lstatSync(this.#address.socketPath, { bigint: true, throwIfNoEntry: false });
    if (found === undefined || found.isSocket()) return found;
    throw this.#failure('there is a file that is no socket');
  }

  /** @throws Failure if this user may not connect to it */
  async #isAnswered(): Promise<boolean> {
    const socket = connect(this.#address.socketPath);
    try {
      await once(socket, 'connect');
      return true;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ECONNREFUSED' || code === 'ENOENT') return false;
      if (code === 'EAGAIN') return true; // its process is slow to accept connections, of which too many wait
      if (code !== 'EACCES') throw error;
      throw this.#failure('this user may not connect to the socket there; choose another path with --listen');
    } finally {
      socket.destroy();
    }
  }

  #failure(reason: string): Failure {
    return new Failure(`cannot serve on ${addressText(this.#address)}: ${reason}`);
  }
}

function isSame(one: BigIntStats | undefined, other: BigIntStats): one is BigIntStats {
  return one?.dev === other.dev && one.ino === other.ino;
}

/** For sockets that their process has left behind: a file system may give the number of a removed file to the next one. */
function isUnchanged(one: BigIntStats | undefined, other: BigIntStats): boolean {
  return isSame(one, other) && one.ctimeNs === other.ctimeNs;
}
