/** HTTP client of commands that ask a running serve: over TLS, with a client certificate or a user, or over a Unix socket. */
import { intervalText } from '../../ground/figures/clock.js';
import { Agent, type AgentOptions, type IncomingMessage, request, type RequestOptions } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { reasonOf } from '../../ground/errors.js';
import { credentialsIn, type ServerAddress, withoutSecrets } from './server-address.js';

const TIMEOUT_MS = 5_000;

/** Credentials of the client, and the authority that it trusts. */
export interface ClientAccess {
  /** PEM, as the next ones. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** `user:password`, for addresses without them. */
  readonly credentials?: string;
  /** False if any certificate of the server will do. Default: true. */
  readonly verifies?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** Address to which the server redirects. The client does not follow it: it would get the credentials. */
  readonly location: string | undefined;
}

export class HttpClient {
  readonly #options: RequestOptions;
  readonly #isSecure: boolean;
  readonly #timeoutMs: number;
  readonly #agentOptions: AgentOptions & Omit<ClientAccess, 'credentials' | 'verifies'>;
  /** Ends open requests at close(). Not AbortSignal.any(), which keeps memory for each call in Node 20. */
  readonly #open = new Set<AbortController>();
  #isClosed = false;
  #agent: Promise<{ send: typeof request; agent: Agent }> | undefined;

  constructor(
    { url, socketPath }: ServerAddress,
    { credentials, verifies = true, ...files }: ClientAccess = {},
    timeoutMs = TIMEOUT_MS,
  ) {
    this.#timeoutMs = timeoutMs;
    const shown = credentialsIn(url) ?? credentials;
    const authorization =
      shown === undefined ? {} : { authorization: `Basic ${Buffer.from(shown).toString('base64')}` };
    this.#options = {
      headers: { 'accept-encoding': 'gzip', ...authorization },
      ...(socketPath === undefined ? {} : { socketPath }),
    };
    this.#isSecure = url.protocol === 'https:';
    this.#agentOptions = { keepAlive: true, ...files, ...(verifies ? {} : { rejectUnauthorized: false }) };
  }

  /** @throws Error with the reason of a failure, also if there is no whole answer in time. */
  get(address: URL): Promise<HttpAnswer> {
    return this.#ask(address);
  }

  /** `json`: the body. @throws as get() */
  post(address: URL, json: string): Promise<HttpAnswer> {
    return this.#ask(address, json);
  }

  async #ask(address: URL, json?: string): Promise<HttpAnswer> {
    const { send, agent } = await (this.#agent ??= this.#connect());
    const ending = new AbortController();
    const { signal } = ending;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      ending.abort();
    }, this.#timeoutMs);
    this.#open.add(ending);
    if (this.#isClosed) ending.abort();
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const headers = {
          ...this.#options.headers,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        };
        const method = json === undefined ? 'GET' : 'POST';
        send(withoutSecrets(address), { ...this.#options, method, headers, agent, signal }, resolve)
          .on('error', reject)
          .end(json);
      });
      const { statusCode, headers } = response;
      return { status: statusCode!, text: await textOf(response), location: headers.location };
    } catch (error) {
      throw isLate
        ? new Error(`no answer in ${intervalText(this.#timeoutMs)}`)
        : new Error(reasonOf(error), { cause: error });
    } finally {
      clearTimeout(timer);
      this.#open.delete(ending);
    }
  }

  /** Ends open requests. */
  close(): void {
    this.#isClosed = true;
    for (const ending of this.#open) ending.abort();
    void this.#agent?.then(({ agent }) => agent.destroy());
  }

  async #connect(): Promise<{ send: typeof request; agent: Agent }> {
    if (!this.#isSecure) return { send: request, agent: new Agent(this.#agentOptions) };
    const https = await import('node:https');
    return { send: https.request, agent: new https.Agent(this.#agentOptions) };
  }
}

/** Longest part of an answer in a message. */
const MOST_TEXT = 100;

export function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

/** Returns what an answer says that is no success: a redirect, or the reason of a refusal. */
export function refusalText({ status, text, location }: HttpAnswer): string {
  if (location !== undefined) return `status ${status}, a redirect to ${location}: give that address`;
  const isRefused = status === 401 || status === 403;
  return `status ${status}${isRefused ? `: ${text.trim().split('\n', 1)[0]!.slice(0, MOST_TEXT)}` : ''}`;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const isPacked = response.headers['content-encoding'] === 'gzip';
  const body: Readable = isPacked ? response.pipe(createGunzip()) : response;
  if (isPacked) response.on('error', (error) => body.destroy(error));
  let text = '';
  for await (const part of body.setEncoding('utf8')) text += part as string;
  return text;
}
