/** Samples from a running serve, or from any other exposition of the same metrics, over HTTP. */
import { reasonOf } from '../../errors.js';
import { ExitCode, Failure } from '../process/failure.js';
import { agentsIn } from './exposition.js';
import type { Sample, Sampler } from './tracker.js';

const TIMEOUT_MS = 5_000;

export class Scraper implements Sampler {
  readonly name: string;
  readonly #headers: Record<string, string> = {};
  #last: Sample | undefined;

  /** An address without a path means /metrics, the path of every exporter. */
  constructor(url: URL) {
    const address = new URL(url);
    if (address.pathname === '/') address.pathname = '/metrics';
    // fetch() refuses a URL with a password, and a screen should not show one.
    const credentials = credentialsIn(address);
    if (credentials !== undefined) {
      this.#headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`;
      address.username = '';
      address.password = '';
    }
    this.name = address.href;
  }

  /** After a first answer, a failed request gives the old numbers with a note: the server may return. */
  async sample(): Promise<Sample> {
    try {
      const agents = agentsIn(await this.#fetch());
      this.#last = { takenMs: Date.now(), agents, notes: agents.length === 0 ? [this.noAgents().message] : [] };
      return this.#last;
    } catch (error) {
      const message = `no metrics from ${this.name}: ${fetchProblem(error)}`;
      if (this.#last === undefined) throw new Failure(message);
      return { ...this.#last, notes: [message] };
    }
  }

  noAgents(): Error {
    return new Failure(`no agents at ${this.name}`, ExitCode.NO_RINGS);
  }

  close(): void {}

  async #fetch(): Promise<string> {
    const response = await fetch(this.name, { headers: this.#headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    if (!response.ok) throw new Error(`status ${response.status}`);
    return text;
  }
}

/**
 * Returns `user:password` if the address has one of them.
 * @throws URIError if they are not percent-encoded UTF-8
 */
export function credentialsIn({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
}

/** Reason of a failed request: fetch() has it in the cause of its error. */
function fetchProblem(error: unknown): string {
  const { name, cause } = error instanceof Error ? error : {};
  if (name === 'TimeoutError') return `no answer in ${TIMEOUT_MS / 1000} s`;
  return reasonOf(cause instanceof Error ? cause : error);
}
