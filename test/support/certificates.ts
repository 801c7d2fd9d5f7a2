/** Certificates that `openssl` makes for a test, and requests that show them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingHttpHeaders } from 'node:http';
import { get as getSecure, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** For all authorities of a test file. */
const FOLDER = mkdtempSync(path.join(tmpdir(), 'nixl-otel-authorities-'));
afterAll(() => rmSync(FOLDER, { recursive: true }));

/** Paths of PEM files. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** Authority. It is valid for two days. */
export class Authority {
  readonly folder = mkdtempSync(`${FOLDER}/`);
  readonly ca: string;
  readonly #key: string;

  constructor(name = 'authority') {
    this.ca = path.join(this.folder, 'ca.pem');
    this.#key = path.join(this.folder, 'ca.key');
    openssl(['req', '-x509', ...KEY, '-keyout', this.#key, '-out', this.ca, '-subj', `/CN=${name}`, '-days', '2']);
  }

  /** `names`: as in the configuration of openssl. `days`: validity; below 0 for a certificate that has expired. */
  issue(name: string, names = 'DNS:localhost,IP:127.0.0.1', days = 2): Pair {
    const file = (end: string): string => path.join(this.folder, `${name}.${end}`);
    openssl(['req', ...KEY, '-keyout', file('key'), '-out', file('csr'), '-subj', `/CN=${name}`]);
    writeFileSync(file('ext'), `subjectAltName=${names}`);
    const signing = ['-CA', this.ca, '-CAkey', this.#key, '-CAcreateserial', '-extfile', file('ext')];
    openssl(['x509', '-req', '-in', file('csr'), ...signing, '-days', String(days), '-out', file('pem')]);
    return { cert: file('pem'), key: file('key') };
  }
}

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Files that the client shows and trusts, and `user:password`. */
export interface Shown extends Partial<Pair> {
  /** False if any certificate of the server will do. */
  readonly verifies?: boolean;
  readonly ca?: string;
  readonly auth?: string;
  readonly agent?: RequestOptions['agent'];
}

export interface Asked {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Asks over a new connection, unless there is an agent. */
export function ask(
  url: string | URL,
  { ca, cert, key, auth, agent = false, verifies = true }: Shown = {},
): Promise<Asked> {
  const files = Object.entries({ ca, cert, key }).filter(([, file]) => file !== undefined);
  const pems = Object.fromEntries(files.map(([name, file]) => [name, readFileSync(file!)]));
  const send = new URL(url).protocol === 'https:' ? getSecure : get;
  return new Promise((resolve, reject) => {
    const options = { ...pems, agent, rejectUnauthorized: verifies, ...(auth === undefined ? {} : { auth }) };
    send(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
      response.on('error', reject);
    }).on('error', reject);
  });
}
