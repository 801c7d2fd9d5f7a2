/** Addresses of `--url`: of a running serve, or of another exposition. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { credentialsIn, type ServerAddress } from '../view/client/server-address.js';

const HAS_SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;
const UNIX = 'unix:';
/** Port of serve, for an address without a scheme. */
const DEFAULT_PORT = 9464;

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
export function serverAddresses(texts: readonly string[], command: Command, flag = '--url'): readonly ServerAddress[] {
  try {
    return addressesIn(texts, flag);
  } catch (error) {
    if (error instanceof InvalidArgumentError) return command.error(`error: ${error.message}`);
    throw error;
  }
}

/**
 * Parses addresses; one that is given twice counts once. `gpu-node-17:9464` means `http://gpu-node-17:9464`.
 * @throws InvalidArgumentError
 */
export function addressesIn(texts: readonly string[], flag = '--url'): readonly ServerAddress[] {
  const all = texts.map((text) => addressIn(text, flag));
  return [...new Map(all.map((one) => [one.socketPath ?? one.url.href, one])).values()];
}

/** @throws InvalidArgumentError */
function addressIn(text: string, flag: string): ServerAddress {
  if (text.startsWith(`${UNIX}/`)) {
    return { name: text, url: new URL('http://localhost/'), socketPath: text.slice(UNIX.length) };
  }
  const full = HAS_SCHEME.test(text) ? text : `http://${withPort(text)}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw refused(
      flag,
      text,
      'Allowed: host, host:port, unix:/path, or an address that begins with http:// or https://.',
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

function withPort(text: string): string {
  const [host = '', ...path] = text.split(/(?=[/?#])/);
  return [/:\d*$/.test(host) ? host : `${host}:${DEFAULT_PORT}`, ...path].join('');
}
