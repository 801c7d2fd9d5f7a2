/** The address of the agents' figures as JSON. Without requests it does nothing, and keeps only the last answers. */
import os from 'node:os';
import type { CustomError } from '../../mapping/index.js';
import { oneLine } from '../../one-line.js';
import { PACKAGE_VERSION } from '../../package.js';
import type { Snapshot } from '../../shm-bridge/types.js';
import type { Handler, MetricsServer } from '../http/metrics-server.js';
import { agentsAnswer, MAX_LISTED_AGENTS, type ServeFacts } from './agents.js';
import { AGENTS_PATH } from './answer.js';

/** Limits snapshots of the rings, however many clients ask. */
const SAME_ANSWER_MS = 500;
const HEADERS = { 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' };
/** Values of the parameter `agents`, and the most agents that an answer lists. */
const LISTED: ReadonlyMap<string | null, number> = new Map([
  [null, MAX_LISTED_AGENTS],
  ['all', Infinity],
]);

/** Returns the totals so far; undefined after the source is closed. */
export type Peek = () => Snapshot | undefined;

export function publishAgents(
  server: MetricsServer,
  peek: Peek,
  directories: readonly string[],
  customErrors: readonly CustomError[] = [],
): void {
  const facts = {
    version: PACKAGE_VERSION,
    hostname: os.hostname(),
    directories: directories.map(oneLine),
    startedMs: performance.timeOrigin,
  };
  server.route(`/${AGENTS_PATH}`, agents(peek, facts, customErrors));
}

/** Serves a snapshot and drains nothing: figures lag by a drain interval and the age of the answer. */
function agents(peek: Peek, facts: ServeFacts, customErrors: readonly CustomError[]): Handler {
  let snapshot: Snapshot | undefined;
  let madeMs = -Infinity;
  const texts = new Map<number, string>();
  return (request, answer) => {
    const asked = new URLSearchParams(request.url?.split('?', 2)[1]).get('agents');
    const mostAgents = LISTED.get(asked);
    if (mostAgents === undefined) {
      answer(400, `agents=${oneLine(asked ?? '')} is not allowed. Allowed: agents=all`);
      return;
    }
    if (performance.now() - madeMs > SAME_ANSWER_MS) {
      snapshot = peek();
      madeMs = performance.now();
      texts.clear();
    }
    if (snapshot === undefined) return answer(503, 'The rings are closed.');
    let text = texts.get(mostAgents);
    if (text === undefined) {
      texts.set(mostAgents, (text = JSON.stringify(agentsAnswer(snapshot, facts, customErrors, mostAgents))));
    }
    answer(200, text, 'application/json', HEADERS);
  };
}
