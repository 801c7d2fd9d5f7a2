/** Addresses that serve listens on, as `--listen` takes them. */
import { hostName, oneOrMore, pattern, refuse, type Shape } from './shape.js';
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
const ALLOWED = `host:port, [IPv6]:port, :port for all addresses, or unix: and an absolute path of at most ${MOST_PATH_BYTES} bytes`;

const listenText: Shape<string> = {
  allowed: ALLOWED,
  schema: { type: 'string', minLength: 1 },
  problems(given, path = []) {
    try {
      listenText.parse!(given as string);
      return [];
    } catch {
      return [{ path, text: `is ${JSON.stringify(given)}; allowed: ${ALLOWED}` }];
    }
  },
  parse(text) {
    listenAddressIn(text, 0);
    return text;
  },
};

export const listenTexts = oneOrMore(listenText, `${ALLOWED}; or a non-empty array of these`);

export const socketMode = pattern('an octal number of three digits, in quotes, as "0660"', /^0?[0-7]{3}$/);

/**
 * Parses an address. `mode`: permissions of a Unix socket.
 * @throws Refusal
 */
export function listenAddressIn(text: string, mode: number): ListenAddress {
  if (text.startsWith(UNIX)) {
    const socketPath = text.slice(UNIX.length);
    const fits = /^\/[^\0]*[^/\0]$/.test(socketPath) && Buffer.byteLength(socketPath) <= MOST_PATH_BYTES;
    return fits ? { socketPath, mode } : refuse(ALLOWED);
  }
  const [, host, port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(text) ?? [];
  if (port === undefined || PORT.problems(Number(port)).length > 0) return refuse(ALLOWED);
  if (host === '') return { host: undefined, port: Number(port) };
  return hostName.problems(host).length > 0 ? refuse(ALLOWED) : { host: hostName.parse!(host!), port: Number(port) };
}

/** Returns the address as the user writes it. */
export function addressText(address: ListenAddress): string {
  if ('socketPath' in address) return `${UNIX}${address.socketPath}`;
  const { host = '', port } = address;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
