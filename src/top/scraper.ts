/** Samples from a running serve, or from any other exposition of the same metrics, over HTTP. */
import { setTimeout as pause } from 'node:timers/promises';
import { parsedJson, reasonOf } from '../ground/errors.js';
import { AGENTS_PATH, type AgentsAnswer, isAgentsAnswer } from '../view/answers/answer.js';
import { HISTORY_PATH } from '../view/answers/history-answer.js';
import { INCIDENTS_PATH, isIncidentsAnswer } from '../view/answers/incidents-answer.js';
import { isSizesAnswer, SIZES_PATH } from '../view/answers/sizes-answer.js';
import { type ClientAccess, HttpClient, isSuccess, refusalText } from '../view/client/client.js';
import { type ServerAddress, withoutSecrets } from '../view/client/server-address.js';
import { ExitCode, Failure } from '../process/failure.js';
import { agentsOf, factsOf, idAtServe, idOf } from './answer.js';
import { agentsIn } from './exposition.js';
import { isHistoryAnswer, pastOf } from './past.js';
import { noIncidents, type TopIncidents } from './incidents.js';
import type { Past } from './points.js';
import type { TopSample } from './sampler.js';
import { noSizes, type TopSizes } from './sizes.js';
import { type FleetView, type SampleSource, Tracker } from './tracker.js';
import type { AgentModel } from '../view/model/agent-model.js';

/** An exposition may give way to a serve without a failed request in between. */
const ASK_AGAIN_MS = 60_000;
/** serve keeps an answer for half a second. Rates need a newer one. */
const REPEATED_PAUSE_MS = 100;
const MAX_REPEATED = 10;

export class Scraper implements SampleSource {
  /** Address of the exposition. */
  readonly name: string;
  /** Host and port, or path of the socket. */
  readonly #host: string;
  readonly #text: URL;
  readonly #agents: URL;
  readonly #client: HttpClient;
  readonly #doctorArguments: readonly string[];
  readonly #closed = new AbortController();
  /** Until then the exposition is asked alone: the server has no answer as JSON. */
  #textUntilMs = -Infinity;
  #last: TopSample | undefined;
  #lastMs = -Infinity;
  /** True if the last sample was JSON: the exposition has other ids, so that no rate would span both. */
  #answered = false;
  readonly #tracker = new Tracker();

  /** `flags`: those of doctor for this address, besides `--url`. */
  constructor(address: ServerAddress, access?: ClientAccess, flags: readonly string[] = []) {
    const { text, agents } = addressesOf(withoutSecrets(address.url));
    this.name = address.socketPath === undefined ? text.href : address.name;
    this.#host = address.name;
    this.#text = text;
    this.#agents = agents;
    this.#client = new HttpClient(address, access);
    this.#doctorArguments = ['--url', address.socketPath === undefined ? address.url.href : address.name, ...flags];
  }

  async view(): Promise<FleetView> {
    return this.#tracker.add(await this.sample());
  }

  /** After a first answer, a failed request gives the old numbers with a note: the server may return. */
  async sample(): Promise<TopSample> {
    try {
      const found = (await this.#newAgents()) ?? (await this.#exposition());
      this.#last = { ...found, notes: found.agents.length === 0 ? [this.noAgents().message] : [] };
      this.#lastMs = performance.now();
      return this.#last;
    } catch (error) {
      this.#textUntilMs = -Infinity;
      this.#answered = false;
      const reason = reasonOf(error);
      const message = `no metrics from ${this.name}: ${reason}`;
      if (this.#last === undefined) throw new Failure(message);
      const stale = { forMs: performance.now() - this.#lastMs, reason };
      return { ...this.#last, notes: [message], facts: { ...this.#last.facts, stale } };
    }
  }

  /** An earlier serve ignores the parameter and lists its agents. Other exporters know no details. */
  async details(id: string): Promise<AgentModel | undefined> {
    if (!this.#answered) return undefined;
    const own = idAtServe(id);
    const address = new URL(this.#agents);
    address.searchParams.delete('agents');
    address.searchParams.set('agent', own);
    const answer = await this.#answerAt(address);
    return answer?.agents.find((agent) => String(agent.id) === own);
  }

  /** An earlier serve and other exporters have no history. */
  async pasts(): Promise<readonly Past[]> {
    if (!this.#answered) return [];
    const address = new URL(this.#agents);
    address.pathname = address.pathname.replace(AGENTS_PATH, HISTORY_PATH);
    const json = await this.#jsonAt(address);
    return isHistoryAnswer(json) ? [pastOf(json)] : [];
  }

  /** An earlier serve and other exporters have no sizes. */
  async sizes(id?: string): Promise<TopSizes> {
    const none = noSizes(`${this.#host} has no time by size: it is no serve, an earlier one, or has --page off`);
    if (!this.#answered) return none;
    const address = new URL(this.#agents);
    address.pathname = address.pathname.replace(AGENTS_PATH, SIZES_PATH);
    if (id !== undefined) {
      address.searchParams.delete('agents');
      address.searchParams.set('agent', idAtServe(id));
    }
    const json = await this.#jsonAt(address);
    if (!isSizesAnswer(json)) return none;
    const agents = new Map(json.agents.map(({ id: own, tx, rx }) => [idOf(json, own), { tx, rx }]));
    return { recentMs: json.recentMs, agents, missing: [] };
  }

  async incidents(): Promise<TopIncidents> {
    const none = noIncidents(`${this.#host} has no incidents: it is no serve, an earlier one, or has --page off`);
    if (!this.#answered) return none;
    const address = new URL(this.#agents);
    address.search = '';
    address.pathname = address.pathname.replace(AGENTS_PATH, INCIDENTS_PATH);
    const json = await this.#jsonAt(address);
    if (!isIncidentsAnswer(json)) return none;
    return { listed: json.incidents.map((incident) => ({ incident, takenMs: json.takenMs })), missing: [] };
  }

  doctorArguments(): readonly (readonly string[])[] {
    return [this.#doctorArguments];
  }

  noAgents(): Error {
    return new Failure(`no agents at ${this.name}`, ExitCode.NO_RINGS);
  }

  close(): void {
    this.#closed.abort();
    this.#client.close();
  }

  /** Returns undefined if the server has no such answer, as serve with --page off and other exporters. */
  async #newAgents(): Promise<Omit<TopSample, 'notes'> | undefined> {
    if (performance.now() < this.#textUntilMs) return undefined;
    let answer = await this.#answerAt(this.#agents);
    for (let i = 0; i < MAX_REPEATED && answer !== undefined && answer.takenMs === this.#last?.takenMs; i++) {
      await pause(REPEATED_PAUSE_MS, undefined, { signal: this.#closed.signal });
      answer = await this.#answerAt(this.#agents);
    }
    this.#answered = answer !== undefined;
    if (answer === undefined) {
      this.#textUntilMs = performance.now() + ASK_AGAIN_MS;
      return undefined;
    }
    return { takenMs: answer.takenMs, agents: agentsOf(answer), facts: factsOf(answer, this.#host) };
  }

  async #answerAt(address: URL): Promise<AgentsAnswer | undefined> {
    const json = await this.#jsonAt(address);
    return isAgentsAnswer(json) ? json : undefined;
  }

  /** A server or a proxy that has no such address may as well break the connection, or not answer at all. */
  async #jsonAt(address: URL): Promise<unknown> {
    try {
      const answer = await this.#client.get(address);
      return isSuccess(answer) ? parsedJson(answer.text) : undefined;
    } catch (error) {
      if (this.#answered) throw error;
      return undefined;
    }
  }

  async #exposition(): Promise<Omit<TopSample, 'notes'>> {
    const answer = await this.#client.get(this.#text);
    if (!isSuccess(answer)) throw new Error(refusalText(answer));
    const origin = { kind: 'serve', name: this.#host, directories: [] } as const;
    return { takenMs: Date.now(), agents: agentsIn(answer.text), facts: { origin } };
  }
}

const IN_PLACE_OF_METRICS = new RegExp(`^/$|/${AGENTS_PATH}$`);

/**
 * Returns the addresses of the exposition and of the agents as JSON, which is beside /metrics. Either may be given. Without a
 * path, the exposition is at /metrics.
 */
export function addressesOf(url: URL): { text: URL; agents: URL } {
  const text = new URL(url);
  text.pathname = text.pathname.replace(IN_PLACE_OF_METRICS, '/metrics');
  const agents = new URL(text);
  // Any other path may be the prefix of a proxy.
  agents.pathname = text.pathname.replace(/(\/metrics)?\/?$/, `/${AGENTS_PATH}`);
  agents.searchParams.set('agents', 'all');
  return { text, agents };
}
