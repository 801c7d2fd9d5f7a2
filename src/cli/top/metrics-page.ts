/** A running serve, or any other page of the same metrics, asked over HTTP: its rings are left to it. */
import { reasonOf } from '../../errors.js';
import { ExitCode, Failure } from '../process/failure.js';
import { agentsOn } from './page-agents.js';
import type { Sample, Source } from './totals.js';

const TIMEOUT_MS = 5_000;

export class MetricsPage implements Source {
  readonly name: string;
  readonly #headers: Record<string, string> = {};
  #last: Sample | undefined;

  /** Without a path the one that every exporter uses is meant. */
  constructor(url: URL) {
    const asked = new URL(url);
    if (asked.pathname === '/') asked.pathname = '/metrics';
    // fetch() takes no URL with a password, and a screen should not show one.
    const login = loginOf(asked);
    if (login !== undefined) {
      this.#headers['authorization'] = `Basic ${Buffer.from(login).toString('base64')}`;
      asked.username = '';
      asked.password = '';
    }
    this.name = asked.href;
  }

  /** Once there was an answer, none is a note beside the old numbers: whoever serves may come back. */
  async sample(): Promise<Sample> {
    try {
      const page = await this.#read();
      this.#last = { takenMs: Date.now(), agents: agentsOn(page), notes: [] };
      if (this.#last.agents.length === 0) this.#last = { ...this.#last, notes: [`no agents at ${this.name}`] };
      return this.#last;
    } catch (error) {
      const message = `no metrics from ${this.name}: ${whyNoAnswer(error)}`;
      if (this.#last === undefined) throw new Failure(message);
      return { ...this.#last, notes: [message] };
    }
  }

  whyNothing(): Error {
    return new Failure(`no agents at ${this.name}`, ExitCode.NO_RINGS);
  }

  close(): void {}

  async #read(): Promise<string> {
    const answer = await fetch(this.name, { headers: this.#headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return text;
  }
}

/**
 * `user:password`, where the address has one of them.
 *
 * @throws URIError where they are not percent-encoded UTF-8
 */
export function loginOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
}

/** fetch() tells the reason in the cause. */
function whyNoAnswer(error: unknown): string {
  const { name, cause } = error instanceof Error ? error : {};
  if (name === 'TimeoutError') return `no answer in ${TIMEOUT_MS / 1000} s`;
  return reasonOf(cause instanceof Error ? cause : error);
}
