/** Samples from a running serve, or from any other exposition of the same metrics, over HTTP. */
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../errors.js';
import { AGENTS_PATH, type AgentsAnswer } from '../api/answer.js';
import { ExitCode, Failure } from '../process/failure.js';
import { credentialsIn } from './address.js';
import { agentsOf, detailsOf, factsOf, idAtServe, isAgentsAnswer } from './answer.js';
import { agentsIn } from './exposition.js';
import type { AgentDetails, Sample, Sampler } from './sampler.js';

const TIMEOUT_MS = 5_000;
/** An exposition may give way to a serve without a failed request in between. */
const ASK_AGAIN_MS = 60_000;
/** serve keeps an answer for half a second. Rates need a newer one. */
const REPEATED_PAUSE_MS = 100;
const MAX_REPEATED = 10;

export class Scraper implements Sampler {
  /** Address of the exposition. */
  readonly name: string;
  /** Host and port. */
  readonly #host: string;
  readonly #agents: string;
  readonly #headers: Record<string, string> = {};
  readonly #closed = new AbortController();
  /** Until then the exposition is asked alone: the server has no answer as JSON. */
  #textUntilMs = -Infinity;
  #last: Sample | undefined;
  #lastMs = -Infinity;
  /** True if the last sample was JSON: the exposition has other ids, so that no rate would span both. */
  #answered = false;

  constructor(url: URL) {
    const address = new URL(url);
    // fetch() refuses a URL with a password, and a screen should not show one.
    const credentials = credentialsIn(address);
    if (credentials !== undefined) {
      this.#headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`;
      address.username = '';
      address.password = '';
    }
    const { text, agents } = addressesOf(address);
    this.name = text.href;
    this.#host = text.host;
    this.#agents = agents.href;
  }

  /** After a first answer, a failed request gives the old numbers with a note: the server may return. */
  async sample(): Promise<Sample> {
    try {
      const found = (await this.#newAgents()) ?? (await this.#exposition());
      this.#last = { ...found, notes: found.agents.length === 0 ? [this.noAgents().message] : [] };
      this.#lastMs = performance.now();
      return this.#last;
    } catch (error) {
      this.#textUntilMs = -Infinity;
      this.#answered = false;
      const reason = fetchProblem(error);
      const message = `no metrics from ${this.name}: ${reason}`;
      if (this.#last === undefined) throw new Failure(message);
      const stale = { forMs: performance.now() - this.#lastMs, reason };
      return { ...this.#last, notes: [message], facts: { ...this.#last.facts, stale } };
    }
  }

  /** An earlier serve ignores the parameter and lists its agents. Other exporters know no details. */
  async details(id: string): Promise<AgentDetails | undefined> {
    if (!this.#answered) return undefined;
    const own = idAtServe(id);
    const address = new URL(this.#agents);
    address.searchParams.delete('agents');
    address.searchParams.set('agent', own);
    const answer = await this.#answerAt(address.href);
    const data = answer?.agents.find((agent) => String(agent.id) === own);
    return data && detailsOf(data);
  }

  noAgents(): Error {
    return new Failure(`no agents at ${this.name}`, ExitCode.NO_RINGS);
  }

  close(): void {
    this.#closed.abort();
  }

  /** Returns undefined if the server has no such answer, as serve with --page off and other exporters. */
  async #newAgents(): Promise<Omit<Sample, 'notes'> | undefined> {
    if (performance.now() < this.#textUntilMs) return undefined;
    let answer = await this.#agentsAnswer();
    for (let i = 0; i < MAX_REPEATED && answer !== undefined && answer.takenMs === this.#last?.takenMs; i++) {
      await pause(REPEATED_PAUSE_MS, undefined, { signal: this.#closed.signal });
      answer = await this.#agentsAnswer();
    }
    this.#answered = answer !== undefined;
    if (answer === undefined) {
      this.#textUntilMs = performance.now() + ASK_AGAIN_MS;
      return undefined;
    }
    return { takenMs: answer.takenMs, agents: agentsOf(answer), facts: factsOf(answer, this.#host) };
  }

  #agentsAnswer(): Promise<AgentsAnswer | undefined> {
    return this.#answerAt(this.#agents);
  }

  async #answerAt(address: string): Promise<AgentsAnswer | undefined> {
    const text = await this.#textAt(address);
    const json = text === undefined ? undefined : parsed(text);
    return isAgentsAnswer(json) ? json : undefined;
  }

  /** A server or a proxy that has no such address may as well break the connection, or not answer at all. */
  async #textAt(address: string): Promise<string | undefined> {
    try {
      const { ok, text } = await this.#fetch(address);
      return ok ? text : undefined;
    } catch (error) {
      if (this.#answered) throw error;
      return undefined;
    }
  }

  async #exposition(): Promise<Omit<Sample, 'notes'>> {
    const { ok, status, text } = await this.#fetch(this.name);
    if (!ok) throw new Error(`status ${status}`);
    const origin = { kind: 'serve', name: this.#host, directories: [] } as const;
    return { takenMs: Date.now(), agents: agentsIn(text), facts: { origin } };
  }

  async #fetch(address: string): Promise<{ ok: boolean; status: number; text: string }> {
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#closed.signal]);
    const response = await fetch(address, { headers: this.#headers, signal });
    return { ok: response.ok, status: response.status, text: await response.text() };
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reason of a failed request: fetch() has it in the cause of its error. */
function fetchProblem(error: unknown): string {
  const { name, cause } = error instanceof Error ? error : {};
  if (name === 'TimeoutError') return `no answer in ${TIMEOUT_MS / 1000} s`;
  return reasonOf(cause instanceof Error ? cause : error);
}
