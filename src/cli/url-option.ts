/** Addresses in options: of a running serve, of another exposition, or of an engine. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { credentialsIn, type ServerAddress } from '../view/client/server-address.js';

const HAS_SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;
const UNIX = 'unix:';

interface AddressOption {
  readonly flag: string;
  /** Port of an address that has neither scheme nor port; undefined: such an address is refused. */
  readonly defaultPort?: number;
}

const SERVE_OPTION: AddressOption = { flag: '--url', defaultPort: 9464 };
/** Each instance of an engine has a port of its own. */
export const ENGINE_OPTION: AddressOption = { flag: '--engine' };

/** The option of commands that ask a serve, by default that of this host. */
export function serveUrlOption(): Option {
  return new Option(
    '--url <url>',
    'address of a running serve, as gpu-node-17:9464 or unix:/path; may be repeated (default: localhost:9464)',
  ).argParser((text, before: readonly string[] = []) => [...before, text]);
}

/** Parses the values of that option. Ends the command if one is invalid. */
export function serveAddresses(texts: readonly string[] = ['localhost'], command: Command): readonly ServerAddress[] {
  return serverAddresses(texts, command);
}

/** Parses addresses as addressesIn() does. Ends the command if one is invalid. */
export function serverAddresses(
  texts: readonly string[],
  command: Command,
  option = SERVE_OPTION,
): readonly ServerAddress[] {
  try {
    return addressesIn(texts, option);
  } catch (error) {
    if (error instanceof InvalidArgumentError) return command.error(`error: ${error.message}`);
    throw error;
  }
}

/**
 * Parses addresses; one that is given twice counts once. `gpu-node-17:9464` means `http://gpu-node-17:9464`.
 * @throws InvalidArgumentError
 */
export function addressesIn(texts: readonly string[], option = SERVE_OPTION): readonly ServerAddress[] {
  const all = texts.map((text) => addressIn(text, option));
  return [...new Map(all.map((one) => [one.socketPath ?? one.url.href, one])).values()];
}

/** @throws InvalidArgumentError */
function addressIn(text: string, { flag, defaultPort }: AddressOption): ServerAddress {
  if (text.startsWith(`${UNIX}/`)) {
    return { name: text, url: new URL('http://localhost/'), socketPath: text.slice(UNIX.length) };
  }
  const full = withScheme(text, defaultPort);
  const url = full !== undefined && URL.canParse(full) ? new URL(full) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw refused(
      flag,
      text,
      `Allowed: ${defaultPort ? 'host, ' : ''}host:port, unix:/path, or an address that begins with http:// or https://.`,
    );
  }
  try {
    credentialsIn(url);
  } catch {
    throw refused(flag, text, 'Allowed in user and password: UTF-8, percent-encoded, so that % is %25.');
  }
  return { name: url.host, url };
}

/** As commander reports an argument. */
function refused(flag: string, text: string, allowed: string): InvalidArgumentError {
  return new InvalidArgumentError(`option '${flag} <url>' argument '${text}' is invalid. ${allowed}`);
}

/** Returns undefined for an address that has neither a port nor a default one. */
function withScheme(text: string, defaultPort: number | undefined): string | undefined {
  if (HAS_SCHEME.test(text)) return text;
  const [host = '', ...path] = text.split(/(?=[/?#])/);
  const port = /:\d*$/.test(host) ? '' : defaultPort && `:${defaultPort}`;
  return port === undefined ? undefined : `http://${[host, port, ...path].join('')}`;
}
