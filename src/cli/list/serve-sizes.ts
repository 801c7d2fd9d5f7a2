/** Time by size from running serves. */
import { isSizesAnswer, SIZES_PATH } from '../../view/answers/sizes-answer.js';
import type { ClientAccess } from '../../view/client/client.js';
import { serveAnswer } from '../../view/client/serve-answer.js';
import type { ServerAddress } from '../../view/client/server-address.js';
import type { ListedSizes } from './size-lines.js';

const QUESTION = {
  path: SIZES_PATH,
  parameters: { agents: 'all' },
  what: 'time by size',
  isAnswer: isSizesAnswer,
};

/** @throws Failure if any of the serves gives no answer */
export async function serveSizes(
  addresses: readonly ServerAddress[],
  access: ClientAccess,
): Promise<readonly ListedSizes[]> {
  const answers = await Promise.all(addresses.map((address) => serveAnswer(address, access, QUESTION)));
  return answers.flatMap(({ agents, takenMs, recentMs }, i) => {
    const host = addresses.length > 1 ? { host: addresses[i]!.name } : {};
    return agents.map(({ agent, name, directory, way, tx, rx }) => {
      return { agent, name, directory, ...host, takenMs, recentMs, ...(way && { way }), tx, rx };
    });
  });
}
