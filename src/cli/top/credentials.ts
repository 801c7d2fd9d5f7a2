/**
 * Returns `user:password` if the address has one of them.
 * @throws URIError if they are not percent-encoded UTF-8
 */
export function credentialsIn({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
}
