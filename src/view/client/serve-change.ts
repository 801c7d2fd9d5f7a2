/** Changes that a command asks of a running serve. */
import { reasonOf } from '../../ground/errors.js';
import { Failure } from '../../process/failure.js';
import { type ClientAccess, HttpClient, isSuccess, refusalText } from './client.js';
import { addressOfPath, type ServerAddress } from './server-address.js';

interface Change {
  readonly path: string;
  /** JSON. */
  readonly body: string;
}

/** Returns the answer of serve. @throws Failure unless serve has taken it */
export async function sendChange(given: ServerAddress, access: ClientAccess, { path, body }: Change): Promise<string> {
  const fail = (reason: string): never => {
    throw new Failure(`${given.socketPath === undefined ? given.url.origin : given.name} does not take it: ${reason}`);
  };
  const client = new HttpClient(given, access);
  try {
    const answer = await client
      .post(addressOfPath(given.url, path), body)
      .catch((error: unknown) => fail(reasonOf(error)));
    if (answer.status === 404 || answer.status === 405) fail('serve is older than this command, or has --page off');
    if (answer.status === 400 || answer.status === 409) fail(answer.text.trim());
    if (!isSuccess(answer)) fail(refusalText(answer));
    return answer.text;
  } finally {
    client.close();
  }
}
