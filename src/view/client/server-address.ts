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

/** Returns the address of a path of serve. The given one may be that of its metrics or its JSON, or the prefix of a proxy. */
export function addressOfPath(url: URL, path: string): URL {
  const address = withoutSecrets(url);
  address.pathname = url.pathname.replace(/(\/metrics|\/api\/v1\/\w+)?\/?$/, `/${path}`);
  address.search = '';
  return address;
}
