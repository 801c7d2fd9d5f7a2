/** Checks of a running serve, by its answer at /readyz, and of the port that serve would listen on. */
import { get } from 'node:http';
import { get as getSecure } from 'node:https';
import { reasonOf } from '../../errors.js';
import type { ServeSettings } from '../../settings/serve-rows.js';
import { type Finding, finding, listed, ok } from './finding.js';
import { listenerOn } from './listeners.js';
import { titleOf } from './processes.js';

const TIMEOUT_MS = 5_000;
/** Longest part of a foreign answer in a message. */
const MOST_TEXT = 100;

/** Answers of serve that is not ready. */
const NOT_READY = /^(stopping|the rings are closed|the collector thread has had no turn for .*)$/;

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Asks the serve at this address, which may be that of its metrics. */
export async function serveFindings(url: URL): Promise<Finding[]> {
  const address = new URL(url);
  address.pathname = address.pathname.replace(/(\/metrics)?\/?$/, '/readyz');
  address.search = '';
  const subject = withoutSecrets(address);
  const values = { URL: subject };
  try {
    const answer = await ask(address);
    return (
      readiness(subject, answer) ?? [
        finding('not-serve', { subject, what: `the answer is not that of serve: ${shortened(answer)}`, values }),
      ]
    );
  } catch (error) {
    return [finding('no-answer', { subject, what: `there is no answer: ${reasonOf(error)}` })];
  }
}

/** Checks that serve can listen on its port, or that it does already. */
export async function portFindings({ host, port }: ServeSettings, directory: string): Promise<Finding[]> {
  const subject = `port ${port} of ${host}`;
  const listener = listenerOn(host, port);
  if (listener === undefined) return [ok('port', subject, 'free')];
  const by = listener.pid === undefined ? 'a process of another user' : titleOf(listener.pid);
  const address = new URL('http://localhost/readyz');
  address.hostname = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  address.port = String(port);
  const answer = await ask(address).catch(() => undefined);
  const found = answer && readiness(subject, answer);
  if (found !== undefined) return [ok('port', subject, `${by} serves there`), ...found];
  return [finding('port-taken', { subject, what: `taken by ${by}`, values: { DIR: directory } })];
}

/** Returns undefined if the answer is not that of a serve. */
function readiness(subject: string, { status, text }: Answer): Finding[] | undefined {
  const [first = '', ...reports] = text.trim().split('\n');
  if (status === 503 && NOT_READY.test(first)) {
    return [finding('serve-not-ready', { subject, what: first, values: { URL: subject } })];
  }
  const agents = /^ready, (\d+) agents$/.exec(first)?.[1];
  if (status !== 200 || agents === undefined) return undefined;
  return [
    agents === '0' ? finding('serve-without-agents', { subject, what: first }) : ok('serve', subject, first),
    ...(reports.length === 0 ? [] : [finding('serve-reports', { subject, what: listed(reports) })]),
  ];
}

function ask(url: URL): Promise<Answer> {
  const send = url.protocol === 'https:' ? getSecure : get;
  return new Promise((resolve, reject) => {
    const request = send(url, { signal: AbortSignal.timeout(TIMEOUT_MS), agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode!, text })).on('error', reject);
    });
    request.on('error', (error) =>
      reject(error.name === 'AbortError' ? new Error(`no answer in ${TIMEOUT_MS / 1000} s`) : error),
    );
  });
}

function withoutSecrets(url: URL): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}

function shortened({ status, text }: Answer): string {
  const first = text.trim().split('\n', 1)[0]!;
  return `status ${status}, ${first.length > MOST_TEXT ? `${first.slice(0, MOST_TEXT)}...` : first || 'no text'}`;
}
