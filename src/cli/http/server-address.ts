/** Address of a running serve, or of another exposition. */

export interface ServerAddress {
  /** Host and port, or `unix:/path`. */
  readonly name: string;
  /** With the host `localhost` for a Unix socket. */
  readonly url: URL;
  readonly socketPath?: string;
}

/**
 * Returns `user:password` if the address has one of them.
 * @throws URIError if they are not percent-encoded UTF-8
 */
export function credentialsIn({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
}

/** Returns the address without user and password. */
export function withoutSecrets(url: URL): URL {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown;
}

/** Returns whether the network between this machine and the server can read what is sent. */
export function isReadableOnNetwork({ url, socketPath }: ServerAddress): boolean {
  if (url.protocol !== 'http:' || socketPath !== undefined) return false;
  return !/^(127(\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]|(.+\.)?localhost)$/.test(url.hostname);
}
