/** Processes that listen on a TCP port, by /proc/net of this network namespace. */
import { readdirSync, readlinkSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { attempt } from '../../ground/errors.js';
import { visiblePids } from '../../shm-bridge/process-sight.js';
import { fileText } from './processes.js';

/** State LISTEN in /proc/net/tcp. */
const LISTENING = '0A';

export interface ListenerProcess {
  /** Undefined if this user may not know. */
  readonly pid: number | undefined;
}

/** Returns the process that keeps others from listening on the port; undefined if there is none. */
export function listenerOn(host: string, port: number): ListenerProcess | undefined {
  const wanted = hexOf(host);
  const sockets = ['tcp', 'tcp6'].flatMap((name) => socketsIn(`/proc/net/${name}`));
  const taken = sockets.find(({ address, port: one }) => one === port && conflicts(address, wanted));
  return taken && { pid: ownerOf(taken.inode) };
}

interface ListeningSocket {
  /** As the kernel writes it: hexadecimal, each 32 bits in the byte order of the machine. */
  readonly address: string;
  readonly port: number;
  readonly inode: string;
}

/** Example of a line: `0: 0100007F:24F8 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 8137 1 ...`. */
function socketsIn(file: string): ListeningSocket[] {
  // Without IPv6 there is no file for it.
  return fileText(file)
    .split('\n')
    .flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const [address = '', port = ''] = (fields[1] ?? '').split(':');
      return fields[3] === LISTENING ? [{ address, port: parseInt(port, 16), inode: fields[9]! }] : [];
    });
}

/** `wanted`: undefined for any address. */
function conflicts(address: string, wanted: string | undefined): boolean {
  return wanted === undefined || /^0+$/.test(address) || address === wanted;
}

/** Returns the address as the kernel writes it. Names and IPv6 conflict with every listener of the port. */
function hexOf(host: string): string | undefined {
  if (!isIPv4(host) || host === '0.0.0.0') return undefined;
  const bytes = new Uint8Array(host.split('.').map(Number));
  return new Uint32Array(bytes.buffer)[0]!.toString(16).toUpperCase().padStart(8, '0');
}

function ownerOf(inode: string): number | undefined {
  return visiblePids().find((pid) => linksIn(`/proc/${pid}/fd`).includes(`socket:[${inode}]`));
}

/** Returns no link if the process has ended or belongs to another user. */
function linksIn(folder: string): string[] {
  return attempt(() => readdirSync(folder).map((fd) => readlinkSync(`${folder}/${fd}`))) ?? [];
}
