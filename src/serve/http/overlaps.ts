/** Addresses of one server that overlap although they are written differently: a standby would wait for itself. */
import { lookup } from 'node:dns/promises';
import { realpathSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { addressText, type ListenAddress, overlapIn } from '../../settings/listen-address.js';
import { ExitCode, Failure } from '../../process/failure.js';

/** @throws Failure with both addresses */
export async function refuseOverlaps(addresses: readonly ListenAddress[]): Promise<void> {
  if (addresses.length < 2) return;
  const found = overlapIn(await Promise.all(addresses.map(plain)));
  if (found === undefined) return;
  const [one, other] = found.map((i) => addressText(addresses[i]!));
  throw new Failure(`cannot serve on ${one} and on ${other}: they overlap; leave one of them out`, ExitCode.USAGE);
}

/** Returns the address that a name or a symbolic link leads to. What cannot be found, listen() reports. */
async function plain(address: ListenAddress): Promise<ListenAddress> {
  try {
    if ('socketPath' in address) {
      const folder = realpathSync(path.dirname(address.socketPath));
      return { ...address, socketPath: path.join(folder, path.basename(address.socketPath)) };
    }
    const { host, port } = address;
    return host === undefined || isIP(host) > 0 ? address : { host: (await lookup(host)).address, port };
  } catch {
    return address;
  }
}
