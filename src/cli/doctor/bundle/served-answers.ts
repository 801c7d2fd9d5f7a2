/** Answers of a running serve about itself, for a bundle. An answer of another program is left out. */
import { parsedJson, reasonOf } from '../../../ground/errors.js';
import { AGENTS_PATH, API } from '../../../view/answers/answer.js';
import { INCIDENTS_PATH } from '../../../view/answers/incidents-answer.js';
import { HttpClient } from '../../../view/client/client.js';
import { addressOfPath } from '../../../view/client/server-address.js';
import { servedReadiness, type ServeToAsk } from '../serve-checks.js';
import { FIGURES_PATH } from '../serve-figures.js';

export async function servedAnswers({ given, access }: ServeToAsk) {
  const address = given.socketPath === undefined ? addressOfPath(given.url, '').href : given.name;
  const client = new HttpClient(given, access);
  const ask = (path: string) => client.get(new URL(path, addressOfPath(given.url, '')));
  try {
    const ready = await ask('readyz');
    if (servedReadiness(address, ready) === undefined) return { address, problem: 'another program answers there' };
    const answers: Record<string, unknown> = { readyz: { status: ready.status, text: ready.text } };
    for (const [path, query] of [
      [AGENTS_PATH, FIGURES_PATH.slice(1)],
      [INCIDENTS_PATH, INCIDENTS_PATH],
    ] as const) {
      const { status, text } = await ask(query);
      const json = parsedJson(text) as { api?: unknown } | null | undefined;
      answers[path] = json?.api === API ? json : { status, problem: 'no figures in the answer' };
    }
    return { address, answers };
  } catch (error) {
    return { address, problem: `no answer: ${reasonOf(error)}` };
  } finally {
    client.close();
  }
}
