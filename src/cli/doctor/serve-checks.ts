/** Checks of a running serve, by its answer at /readyz and its figures, and of the port that serve would listen on. */
import { lstatSync } from 'node:fs';
import { reasonOf } from '../../ground/errors.js';
import { addressText, type ListenAddress } from '../../settings/listen-address.js';
import { type ClientAccess, type HttpAnswer, HttpClient } from '../../view/client/client.js';
import { addressOfPath, type ServerAddress, withoutSecrets } from '../../view/client/server-address.js';
import type { DoctorFinding } from '../../view/answers/doctor-finding.js';
import { finding, firstThree, ok } from './finding.js';
import { listenerOn } from './listeners.js';
import { titleOf } from './processes.js';
import { FIGURES_PATH, figureFindings } from './serve-figures.js';

/** Longest part of a foreign answer in a message. */
const MOST_TEXT = 100;

/** Answers of serve that asks for credentials. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const REFUSED = /^(This server needs|The client certificate is refused|The user or the password is wrong)/;
/** Answers of serve that is not ready. */
const NOT_READY = /^(stopping|the rings are closed|the collector thread has had no turn for .*)$/;

/** Asks the serve at this address, which may be that of its metrics. */
export async function serveFindings(given: ServerAddress, access: ClientAccess): Promise<DoctorFinding[]> {
  const url = withoutSecrets(given.url);
  url.pathname = url.pathname.replace(/(\/metrics)?\/?$/, '/readyz');
  url.search = '';
  const subject = given.socketPath === undefined ? url.href : given.name;
  const values = { URL: subject };
  try {
    const answer = await ask(given, url, access);
    return (
      (await stateOf(subject, answer, { given, url, access })) ?? [
        finding('not-serve', { subject, what: `the answer is not that of serve: ${shortened(answer)}`, values }),
      ]
    );
  } catch (error) {
    const what = `there is no answer: ${reasonOf(error)}`;
    return [finding('no-answer', { subject, what, values: { ADDRESS: listenTextOf(given) } })];
  }
}

/** Returns the value of --listen for a serve that answers at this address: all addresses of the host, unless it is this host. */
function listenTextOf({ name, url, socketPath }: ServerAddress): string {
  if (socketPath !== undefined) return name;
  const host = LOOPBACK.test(url.hostname) ? url.hostname : '';
  return `${host}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
}

/** Checks that serve can listen on the address, or that it does already. `scheme`: of that serve. */
export async function addressFindings(
  address: ListenAddress,
  scheme: 'http' | 'https',
  directory: string,
): Promise<DoctorFinding[]> {
  if ('socketPath' in address) return socketFindings(address);
  const { host, port } = address;
  if (port === 0) return [];
  const subject = host === undefined ? `port ${port}` : `port ${port} of ${host}`;
  const listener = listenerOn(host ?? '0.0.0.0', port);
  if (listener === undefined) return [ok('port', subject, 'free')];
  const by = listener.pid === undefined ? 'a process of another user' : titleOf(listener.pid);
  const serve = localServe(address, scheme);
  const url = addressOfPath(serve.given.url, 'readyz');
  const answer = await ask(serve.given, url, serve.access).catch(() => undefined);
  const found = answer && (await stateOf(subject, answer, { ...serve, url }));
  if (found !== undefined) return [ok('port', subject, `${by} serves there`), ...found];
  return [finding('port-taken', { subject, what: `taken by ${by}`, values: { DIR: directory } })];
}

/** On this machine, and without credentials: any certificate will do. */
export function localServe(address: ListenAddress, scheme: 'http' | 'https'): ServeToAsk {
  const url = new URL(`${scheme}://localhost/`);
  const access = { verifies: false };
  if ('socketPath' in address) {
    const { socketPath } = address;
    return { given: { name: addressText(address), url: new URL('http://localhost/'), socketPath }, access };
  }
  const { host, port } = address;
  const isAny = host === undefined || host === '0.0.0.0' || host === '::';
  url.hostname = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  url.port = String(port);
  return { given: { name: url.host, url }, access };
}

async function socketFindings(address: ListenAddress & { socketPath: string }): Promise<DoctorFinding[]> {
  const subject = addressText(address);
  if (lstatSync(address.socketPath, { throwIfNoEntry: false }) === undefined) return [ok('port', subject, 'free')];
  const serve = localServe(address, 'http');
  try {
    const url = addressOfPath(serve.given.url, 'readyz');
    const answer = await ask(serve.given, url, serve.access);
    const found = await stateOf(subject, answer, { ...serve, url });
    return found ?? [finding('socket-taken', { subject, what: 'another program answers there' })];
  } catch (error) {
    if ((error as { cause?: NodeJS.ErrnoException }).cause?.code === 'ECONNREFUSED') {
      return [ok('port', subject, 'free: a socket that no process uses')];
    }
    return [finding('socket-taken', { subject, what: reasonOf(error) })];
  }
}

export interface ServeToAsk {
  readonly given: ServerAddress;
  readonly access: ClientAccess;
}

interface Asked extends ServeToAsk {
  /** Of /readyz. */
  readonly url: URL;
}

/** Returns the readiness of a serve and what its figures say; undefined if the answer is not that of a serve. */
async function stateOf(subject: string, answer: HttpAnswer, asked: Asked): Promise<DoctorFinding[] | undefined> {
  const { given, url, access } = asked;
  const found = servedReadiness(subject, answer);
  if (found === undefined || answer.status !== 200) return found;
  const figures = await ask(given, new URL(url.href.replace(/\/readyz$/, FIGURES_PATH)), access).catch(() => undefined);
  return figures === undefined ? found : [...found, ...figureFindings(subject.replace(/\/readyz$/, '/'), figures)];
}

/** Returns undefined if the answer is not that of a serve. */
export function servedReadiness(subject: string, { status, text }: HttpAnswer): DoctorFinding[] | undefined {
  const [first = '', ...reports] = text.trim().split('\n');
  if (status === 503 && NOT_READY.test(first)) {
    return [finding('serve-not-ready', { subject, what: first, values: { URL: subject } })];
  }
  if ((status === 401 || status === 403) && REFUSED.test(first)) {
    return [finding('serve-refuses', { subject, what: first, values: { URL: subject } })];
  }
  const [isReady, agents] = /^ready(?:, ([\d,]+) agents?)?$/.exec(first) ?? [];
  if (status !== 200 || isReady === undefined) return undefined;
  if (agents === undefined) return [ok('serve', subject, 'ready; it shows its agents only with credentials')];
  return [
    agents === '0' ? finding('serve-without-agents', { subject, what: first }) : ok('serve', subject, first),
    ...(reports.length === 0 ? [] : [finding('serve-reports', { subject, what: firstThree(reports) })]),
  ];
}

async function ask(address: ServerAddress, url: URL, access: ClientAccess): Promise<HttpAnswer> {
  const client = new HttpClient(address, access);
  try {
    return await client.get(url);
  } finally {
    client.close();
  }
}

function shortened({ status, text }: HttpAnswer): string {
  const first = text.trim().split('\n', 1)[0]!;
  return `status ${status}, ${first.length > MOST_TEXT ? `${first.slice(0, MOST_TEXT)}...` : first || 'no text'}`;
}
