/**
 * The host that a request names. A page of another site reads what a server on this machine answers, if the name of that site
 * resolves to 127.0.0.1 (DNS rebinding). Its requests name that site. Pure.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Allows every host, as an allowed host. */
export const ANY_HOST = '*';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

export function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && LOOPBACK.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Returns a function that tells whether a server on a loopback address answers requests for a host. `names`: further hosts. */
export function hostsWith(names: readonly string[]): (host: string) => boolean {
  const allowed = new Set(['localhost', ...names.map(nameIn)]);
  return (host) => allowed.has(ANY_HOST) || allowed.has(nameIn(host)) || isLoopback(nameIn(host));
}

/** Returns the name or the address, without brackets, port and the dot of the root. */
function nameIn(host: string): string {
  const [, bracketed, plain = host] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  return (bracketed ?? plain).replace(/\.$/, '').toLowerCase();
}

export interface Target {
  /** Undefined if the request names none, as HTTP/1.0 allows: no browser sends that. */
  readonly host: string | undefined;
  /** Number of its headers Host. Node keeps the first. */
  readonly hosts: number;
  /** Path and query. */
  readonly url: string;
}

/** In the absolute form, `GET http://host/metrics`, the URI names the host, and the header does not count. */
export function targetOf({ url = '', headers, rawHeaders }: IncomingMessage): Target {
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  const [, authority, rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (authority === undefined) return { host: headers.host, hosts, url };
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return { host, hosts, url: rest.startsWith('/') ? rest : `/${rest}` };
}
