/** Gate of the HTTP server by a web configuration, whose files are read anew when they have changed. */
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket, type TlsOptions } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { NixlTelemetryError, reasonOf } from '../../ground/errors.js';
import type { RefusalReason } from '../../instrumentation/serve-state.js';
import { networkOf } from '../http/client-network.js';
import type { Gate, Headers, RefusedRequest } from '../http/gate.js';
import { Refusals } from '../http/refusals.js';
import { note } from '../../process/output.js';
import { asksForCertificate, certificateRefusal } from './client-certificate.js';
import { Passwords } from './passwords.js';
import { RequestRate } from './rate-limit.js';
import { ReadFiles } from './read-files.js';
import { tlsOptions } from './tls-options.js';
import { readWebConfig, type TlsConfig, type WebConfig } from './web-config.js';

const CHALLENGE = { 'www-authenticate': 'Basic realm="nixl-otel", charset="UTF-8"' };
const NO_CREDENTIALS = refusal('no_credentials', 401, 'This server needs a user and a password.', CHALLENGE);
const WRONG_CREDENTIALS = refusal('wrong_credentials', 401, 'The user or the password is wrong.', CHALLENGE);
const BUSY = refusal('busy', 503, 'Too many passwords are being compared. Try again.', { 'retry-after': '1' });

const TOO_MANY = refusal('rate_limit', 429, 'Too many requests. The web configuration limits them.', {});

interface Loaded {
  readonly config: WebConfig;
  /** Undefined without TLS, as the next one. */
  readonly tls: TlsOptions | undefined;
  /** Seconds since the epoch. */
  readonly certificateExpirySeconds: number | undefined;
}

export class WebGate implements Gate {
  readonly protectsProbes: boolean;
  readonly #file: string;
  readonly #passwords = new Passwords();
  readonly #onTlsChange: ((tls: TlsOptions) => void)[] = [];
  readonly #refusals = new Refusals();
  #files = new ReadFiles();
  #loaded: Loaded;
  #isStale = false;
  #rate: RequestRate | undefined;

  /** @throws NixlTelemetryError CONFIG_INVALID */
  constructor(file: string, protectsProbes: boolean) {
    this.#file = file;
    this.protectsProbes = protectsProbes;
    this.#loaded = this.#read();
    this.#use(this.#loaded.config);
  }

  get tls(): TlsOptions | undefined {
    return this.#loaded.tls;
  }

  get headers(): Headers {
    return this.#loaded.config.headers;
  }

  /** True if the files have changed and cannot be used, so that their earlier contents count. */
  get isStale(): boolean {
    this.refresh();
    return this.#isStale;
  }

  get certificateExpirySeconds(): number | undefined {
    return this.#loaded.certificateExpirySeconds;
  }

  /** Refused requests and connections since the start. */
  get refusals(): ReadonlyMap<RefusalReason, number> {
    return this.#refusals.counts;
  }

  refresh(): void {
    if (!this.#files.haveChanged) return;
    try {
      const before = this.#loaded;
      const now = this.#read();
      refuseOtherKinds(before.config, now.config);
      const isSameTls = isDeepStrictEqual(before.config.tls, now.config.tls);
      this.#loaded = isSameTls ? { ...now, tls: before.tls } : now;
      this.#isStale = false;
      this.#use(now.config);
      if (now.tls !== undefined && !isSameTls) for (const use of this.#onTlsChange) use(now.tls);
      note(`the web configuration ${this.#file} has changed and was read anew`);
    } catch (error) {
      this.#isStale = true;
      note(
        `the web configuration has changed and cannot be used; its earlier contents count: ${reasonOf(error)}`,
        'error',
      );
    }
  }

  onTlsChange(use: (tls: TlsOptions) => void): void {
    this.#onTlsChange.push(use);
  }

  check(request: IncomingMessage): RefusedRequest | undefined | Promise<RefusedRequest | undefined> {
    const { socket, headers } = request;
    this.refresh();
    if (this.#rate?.allows(performance.now()) === false) return TOO_MANY;
    const { tls, users } = this.#loaded.config;
    const refused = tls !== undefined && hasTls(socket) ? certificateRefusal(socket, tls) : undefined;
    if (refused !== undefined || users.size === 0) return refused;
    const credentials = credentialsIn(headers.authorization);
    if (credentials === undefined) return NO_CREDENTIALS;
    const verdict = this.#passwords.check(...credentials, networkOf(socket.remoteAddress ?? ''));
    if (verdict === 'right') return undefined;
    return verdict.then((one) => ({ right: undefined, wrong: WRONG_CREDENTIALS, busy: BUSY })[one]);
  }

  asks({ socket }: IncomingMessage): boolean {
    const { tls, users } = this.#loaded.config;
    return users.size > 0 || (tls !== undefined && hasTls(socket) && asksForCertificate(tls));
  }

  refused(reason: RefusalReason, text: string, address: string | undefined): void {
    this.#refusals.refused(reason, text, address);
  }

  close(): void {
    this.#passwords.close();
  }

  #use({ users, rateLimit, warnings }: WebConfig): void {
    this.#passwords.use(users);
    if (!isDeepStrictEqual(this.#rate?.limit, rateLimit)) {
      this.#rate = rateLimit && new RequestRate(rateLimit, performance.now());
    }
    for (const one of warnings) note(`the web configuration ${this.#file}: ${one}`, 'warning');
  }

  #read(): Loaded {
    this.#files = new ReadFiles();
    const config = readWebConfig(this.#file, (file) => this.#files.read(file));
    try {
      if (config.tls === undefined) return { config, tls: undefined, certificateExpirySeconds: undefined };
      const tls = tlsOptions(config.tls);
      return { config, tls, certificateExpirySeconds: checkedExpiry(config.tls, this.#file) };
    } catch (cause) {
      const message = `${this.#file}: tls_server_config cannot be used: ${reasonOf(cause)}`;
      throw new NixlTelemetryError('CONFIG_INVALID', message, { path: this.#file, cause });
    }
  }
}

/** Returns the end of the certificate's validity, in seconds since the epoch. Warns of a certificate that clients refuse today. */
function checkedExpiry({ cert }: TlsConfig, file: string): number {
  const { validFrom, validTo } = new X509Certificate(cert); // the first one: authorities may follow
  const now = Date.now();
  const expiry = Date.parse(validTo);
  if (expiry <= now) note(`the certificate of ${file} expired at ${iso(expiry)}: clients refuse it`, 'warning');
  const begin = Date.parse(validFrom);
  if (begin > now)
    note(`the certificate of ${file} is valid from ${iso(begin)} on: clients refuse it before`, 'warning');
  return expiry / 1000;
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/**
 * A server asks for the same kinds of proof from its start to its end: a file that was cut off while it was written must not
 * open it.
 */
function refuseOtherKinds(before: WebConfig, now: WebConfig): void {
  const kinds = ({ tls, users }: WebConfig): string => {
    const ofTls = tls && ['TLS', tls.clientAuth, ...(tls.allowedSans === undefined ? [] : ['client_allowed_sans'])];
    return [...(ofTls ?? []), ...(users.size === 0 ? [] : ['users'])].join(', ') || 'nothing';
  };
  if (kinds(before) === kinds(now)) return;
  throw new Error(`it asks for ${kinds(now)} in place of ${kinds(before)}: restart serve for that`);
}

/** A Unix socket has no TLS. */
function hasTls(socket: Socket): socket is TLSSocket {
  return socket instanceof TLSSocket;
}

function credentialsIn(authorization: string | undefined): [user: string, password: string] | undefined {
  const [, encoded] = /^basic +([\w+/=-]+) *$/i.exec(authorization ?? '') ?? [];
  const text = Buffer.from(encoded ?? '', 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : [text.slice(0, colon), text.slice(colon + 1)];
}

function refusal(reason: RefusalReason, status: number, text: string, headers: Headers): RefusedRequest {
  return { reason, status, text, headers };
}
