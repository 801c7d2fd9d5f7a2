/** Addresses of `--url`. */
import { InvalidArgumentError } from 'commander';

const HAS_SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;
/** Port of serve, for an address without a scheme. */
const DEFAULT_PORT = 9464;

/**
 * Parses addresses; one that is given twice counts once. `gpu-node-17:9464` means `http://gpu-node-17:9464`.
 * @throws InvalidArgumentError
 */
export function addressesIn(texts: readonly string[]): readonly URL[] {
  const urls = texts.map(addressOf);
  return [...new Map(urls.map((url) => [url.href, url])).values()];
}

function addressOf(text: string): URL {
  const full = HAS_SCHEME.test(text) ? text : `http://${withPort(text)}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw refused(text, 'Allowed: host, host:port, or an address that begins with http:// or https://.');
  }
  try {
    credentialsIn(url);
  } catch {
    throw refused(text, 'Allowed in user and password: UTF-8, percent-encoded, so that % is %25.');
  }
  return url;
}

/** As commander reports an argument. */
function refused(text: string, allowed: string): InvalidArgumentError {
  return new InvalidArgumentError(`option '--url <url>' argument '${text}' is invalid. ${allowed}`);
}

function withPort(text: string): string {
  const [host = '', ...path] = text.split(/(?=[/?#])/);
  return [/:\d*$/.test(host) ? host : `${host}:${DEFAULT_PORT}`, ...path].join('');
}

/**
 * Returns `user:password` if the address has one of them.
 * @throws URIError if they are not percent-encoded UTF-8
 */
export function credentialsIn({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
}
