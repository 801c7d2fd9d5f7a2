/** Parameters of the addresses with JSON. Pure. */
import { oneLine } from '../../one-line.js';

export interface Question {
  /** Lists all agents. */
  readonly agents?: 'all';
  /** Id of one agent. */
  readonly agent?: number;
  /** Leaves histograms out. */
  readonly detail?: 'none';
  /** Time before the points that are asked for, milliseconds since the epoch. */
  readonly from?: number;
}

/** A value that is not allowed: the message names it. */
export class WrongQuestion extends Error {}

const WHOLE_NUMBER = /^\d{1,16}$/;
const NUMBER = { allowed: 'a whole number', isRight: (text: string) => WHOLE_NUMBER.test(text) } as const;
const PARAMETERS: Readonly<Record<keyof Question, { allowed: string; isRight: (text: string) => boolean }>> = {
  agents: { allowed: 'agents=all', isRight: (text) => text === 'all' },
  agent: NUMBER,
  detail: { allowed: 'detail=none', isRight: (text) => text === 'none' },
  from: NUMBER,
};

/** Other names are ignored: proxies and scripts may add some. @throws WrongQuestion */
export function questionIn(query: string | undefined, names: readonly (keyof Question)[]): Question {
  const given = new URLSearchParams(query);
  const entries = names.flatMap((name): [string, string | number][] => {
    const text = given.get(name);
    if (text === null) return [];
    const { allowed, isRight } = PARAMETERS[name];
    if (!isRight(text)) throw new WrongQuestion(`${name}=${oneLine(text)} is not allowed. Allowed: ${allowed}`);
    return [[name, WHOLE_NUMBER.test(text) ? Number(text) : text]];
  });
  const question = Object.fromEntries(entries) as Question;
  if (question.agent !== undefined && (question.agents ?? question.detail) !== undefined) {
    throw new WrongQuestion('agent=ID is not allowed together with agents=all or detail=none');
  }
  return question;
}
