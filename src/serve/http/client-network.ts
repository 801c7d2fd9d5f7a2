/** Network of a client, for limits: a client with IPv6 has all addresses of a /64. Pure. */

const GROUPS = 8;
/** A /64. */
const NETWORK_GROUPS = 4;

/** Returns an IPv4 address as it is, and the first 64 bits of an IPv6 address. An IPv4-mapped address counts as IPv4. */
export function networkOf(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address;
  const [before = [], after = []] = address.split('::').map(groupsIn);
  const zeros = Array<number>(Math.max(0, GROUPS - before.length - after.length)).fill(0);
  const network = [...before, ...zeros, ...after].slice(0, NETWORK_GROUPS);
  return network.map((group) => group.toString(16)).join(':');
}

/** The last 32 bits may be written as IPv4: two groups, which are beyond the network. */
function groupsIn(text: string): number[] {
  const groups = text === '' ? [] : text.split(':');
  return groups.flatMap((group) => (group.includes('.') ? [0, 0] : [Number.parseInt(group, 16)]));
}
