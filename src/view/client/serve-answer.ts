/** Asks a running serve for JSON. */
import { parsedJson, reasonOf } from '../../ground/errors.js';
import { Failure } from '../../process/failure.js';
import { type ClientAccess, HttpClient, isSuccess, refusalText } from './client.js';
import { addressOfPath, type ServerAddress } from './server-address.js';

interface ServeQuestion<Answer> {
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** What is asked for, for people: `incidents`. */
  readonly what: string;
  readonly isAnswer: (json: unknown) => json is Answer;
}

/** @throws Failure without an answer of a serve */
export async function serveAnswer<Answer>(
  given: ServerAddress,
  access: ClientAccess,
  { path, parameters = {}, what, isAnswer }: ServeQuestion<Answer>,
): Promise<Answer> {
  const address = addressOfPath(given.url, path);
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  const fail = (reason: string): never => {
    throw new Failure(`no ${what} from ${given.socketPath === undefined ? address.origin : given.name}: ${reason}`);
  };
  const client = new HttpClient(given, access);
  try {
    const answer = await client.get(address).catch((error: unknown) => fail(reasonOf(error)));
    if (answer.status === 404) return fail('no such address: serve is older than this command, or has --page off');
    if (!isSuccess(answer)) return fail(refusalText(answer));
    const json = parsedJson(answer.text);
    return isAnswer(json) ? json : fail('the answer is not that of serve');
  } finally {
    client.close();
  }
}
