/** Time by size from running serves. */
import { parsedJson, reasonOf } from '../../ground/errors.js';
import { Failure } from '../../process/failure.js';
import { isSizesAnswer, SIZES_PATH, type SizesAnswer } from '../../view/answers/sizes-answer.js';
import { type ClientAccess, HttpClient, isSuccess, refusalText } from '../../view/client/client.js';
import { addressOfPath, type ServerAddress } from '../../view/client/server-address.js';
import type { ListedSizes } from './size-lines.js';

/** @throws Failure if any of the serves gives no answer */
export async function serveSizes(
  addresses: readonly ServerAddress[],
  access: ClientAccess,
): Promise<readonly ListedSizes[]> {
  const answers = await Promise.all(addresses.map((address) => answerOf(address, access)));
  return answers.flatMap(({ agents, takenMs, recentMs }, i) => {
    const host = addresses.length > 1 ? { host: addresses[i]!.name } : {};
    return agents.map(({ agent, name, directory, tx, rx }) => {
      return { agent, name, directory, ...host, takenMs, recentMs, tx, rx };
    });
  });
}

async function answerOf(given: ServerAddress, access: ClientAccess): Promise<SizesAnswer> {
  const address = addressOfPath(given.url, SIZES_PATH);
  address.searchParams.set('agents', 'all');
  const fail = (reason: string): never => {
    throw new Failure(
      `no time by size from ${given.socketPath === undefined ? address.origin : given.name}: ${reason}`,
    );
  };
  const client = new HttpClient(given, access);
  try {
    const answer = await client.get(address).catch((error: unknown) => fail(reasonOf(error)));
    if (answer.status === 404) return fail('no such address: serve is older than this command, or has --page off');
    if (!isSuccess(answer)) return fail(refusalText(answer));
    const json = parsedJson(answer.text);
    return isSizesAnswer(json) ? json : fail('the answer is not that of serve');
  } finally {
    client.close();
  }
}
