/** Addresses that serve listens on, as `--listen` takes them. */
import { isIP, SocketAddress } from 'node:net';
import path from 'node:path';
import { also, hostName, oneOrMore, pattern, type Problem, refuse, type Shape, textShape } from './shape.js';
import { PORT } from './nixl-variables.js';

export type ListenAddress = TcpAddress | UnixAddress;

export interface TcpAddress {
  /** Undefined for all addresses of the machine. */
  readonly host: string | undefined;
  readonly port: number;
}

export interface UnixAddress {
  readonly socketPath: string;
  /** Permissions of the socket. */
  readonly mode: number;
}

const UNIX = 'unix:';
/** The kernel's limit, without the zero at the end. */
const MOST_PATH_BYTES = 107;
/** Leaves room for `/proc/self/fd/N/`, with which serve replaces the folder. */
const MOST_NAME_BYTES = 80;
const PATHS = `an absolute path of at most ${MOST_PATH_BYTES} bytes with a name of at most ${MOST_NAME_BYTES} bytes in its folder`;
const ALLOWED = `host:port, [IPv6]:port, :port for all addresses, or unix: and ${PATHS}`;

const listenText = textShape(ALLOWED, { minLength: 1 }, (text) => addressOf(text, 0) !== undefined);

const oneOrMoreTexts = oneOrMore(listenText, `${ALLOWED}; or a non-empty array of these`);

export const listenTexts: Shape<string[]> = {
  ...also(oneOrMoreTexts, (given: string | string[]) => overlapProblems([given].flat())),
  parse(text, before) {
    const texts = oneOrMoreTexts.parse!(text, before);
    const [one] = overlapIn(addressesIn(texts)) ?? [];
    return one === undefined ? texts : refuse(`an address that does not overlap with ${texts[one]!}`);
  },
};

export const socketMode = pattern('an octal number of three digits, in quotes, as "0660"', /^0?[0-7]{3}$/);

/**
 * Parses an address. `mode`: permissions of a Unix socket.
 * @throws Refusal
 */
export function listenAddressIn(text: string, mode: number): ListenAddress {
  return addressOf(text, mode) ?? refuse(ALLOWED);
}

function addressOf(text: string, mode: number): ListenAddress | undefined {
  if (text.startsWith(UNIX)) {
    const socketPath = text.slice(UNIX.length);
    const isPath = /^\/[^\0]*[^/\0]$/.test(socketPath);
    const nameBytes = Buffer.byteLength(path.basename(socketPath));
    const fits = nameBytes <= MOST_NAME_BYTES && Buffer.byteLength(socketPath) <= MOST_PATH_BYTES;
    return isPath && fits ? { socketPath, mode } : undefined;
  }
  const [, host, port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(text) ?? [];
  if (port === undefined || PORT.problems(Number(port)).length > 0) return undefined;
  if (host === '') return { host: undefined, port: Number(port) };
  return hostName.problems(host).length > 0 ? undefined : { host: hostName.parse!(host!), port: Number(port) };
}

function addressesIn(texts: readonly string[]): ListenAddress[] {
  return texts.map((text) => listenAddressIn(text, 0));
}

function overlapProblems(texts: readonly string[]): Problem[] {
  const found = overlapIn(addressesIn(texts));
  if (found === undefined) return [];
  const [one, other] = found.map((i) => JSON.stringify(texts[i]));
  return [{ path: [found[1]], text: `is ${other}; allowed: an address that does not overlap with ${one}` }];
}

/**
 * Returns the places of the first two addresses of which a process can have only one. A host name overlaps only with itself
 * and with all addresses of the machine.
 */
export function overlapIn(addresses: readonly ListenAddress[]): readonly [number, number] | undefined {
  for (const [i, other] of addresses.entries()) {
    const one = addresses.slice(0, i).findIndex((before) => areOverlapping(before, other));
    if (one >= 0) return [one, i];
  }
  return undefined;
}

function areOverlapping(one: ListenAddress, other: ListenAddress): boolean {
  if ('socketPath' in one)
    return 'socketPath' in other && path.normalize(one.socketPath) === path.normalize(other.socketPath);
  if ('socketPath' in other || one.port !== other.port || one.port === 0) return false; // 0: any free port
  const hosts = [one, other].map(({ host = '::' }) => plainHost(host));
  if (hosts.includes('::') || hosts[0] === hosts[1]) return true;
  return hosts.includes('0.0.0.0') && hosts.every((host) => isIP(host) === 4);
}

/** Returns an address in its shortest form, IPv4 without its prefix for IPv6, and a name in lower case. */
function plainHost(host: string): string {
  if (isIP(host) !== 6 || host.includes('%')) return host.toLowerCase();
  return new SocketAddress({ address: host, family: 'ipv6' }).address.replace(/^::ffff:(?=[\d.]+$)/, '');
}

/** Returns the address as the user writes it. */
export function addressText(address: ListenAddress): string {
  if ('socketPath' in address) return `${UNIX}${address.socketPath}`;
  const { host = '', port } = address;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
