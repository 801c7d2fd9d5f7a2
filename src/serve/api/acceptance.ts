/** Operators take times that are found slow as usual, instead of waiting until serve does so by itself. */
import { matchesGlob } from '../../ground/glob.js';
import { oneLine } from '../../ground/one-line.js';
import { parsedJson } from '../../ground/errors.js';
import { note } from '../../process/output.js';
import { API } from '../../view/answers/answer.js';
import type { SlownessJudge } from '../../view/slowness/slowness-judge.js';
import type { ChangeHandler } from '../http/metrics-server.js';

const MOST_TEXT = 200;
const MOST_IDS = 1000;
const ALLOWED = `an object with agent (a glob of 1 to ${MOST_TEXT} characters) or ids (at most ${MOST_IDS} numbers of agents), or with neither for all agents`;

interface Accepted {
  readonly agent?: string;
  readonly ids?: readonly number[];
}

/** `onAccept`: called once something was accepted. */
export function acceptance(judge: SlownessJudge, onAccept: () => void): ChangeHandler {
  return (body) => {
    const asked = parsedJson(body);
    if (!isAccepted(asked)) return { status: 400, text: `Allowed: ${ALLOWED}.` };
    const { agent, ids } = asked;
    const found = judge.facts.filter(({ id, name }) => {
      return (ids === undefined || ids.includes(Number(id))) && (agent === undefined || matchesGlob(name, agent));
    });
    if (found.length === 0) return { status: 409, text: 'None of these agents is found slow or uneven now.' };
    judge.accept(found.map(({ id }) => Number(id)));
    onAccept();
    const names = [...new Set(found.map(({ name }) => name))];
    note(`the present times are taken as usual for ${names.map(oneLine).join(', ')}`);
    return { status: 200, text: JSON.stringify({ api: API, accepted: names }), type: 'application/json' };
  };
}

function isAccepted(json: unknown): json is Accepted {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return false;
  const { agent, ids } = json as Partial<Accepted>;
  const isGlob = agent === undefined || (typeof agent === 'string' && agent !== '' && agent.length <= MOST_TEXT);
  const areIds = ids === undefined || (Array.isArray(ids) && ids.length <= MOST_IDS && ids.every(Number.isInteger));
  return isGlob && areIds;
}
