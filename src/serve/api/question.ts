/** Parameters of the addresses with JSON. Pure. */
import { oneLine } from '../../ground/one-line.js';

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

interface Parameter {
  readonly allowed: string;
  /** Returns undefined for a text that is not allowed. */
  readonly parse: (text: string) => string | number | undefined;
}

const PARAMETERS: Readonly<Record<keyof Question, Parameter>> = {
  agents: only('agents', 'all'),
  agent: { allowed: 'a whole number', parse: numberIn(/^\d{1,16}$/) },
  detail: only('detail', 'none'),
  from: { allowed: 'milliseconds since the epoch', parse: numberIn(/^\d{1,16}(\.\d{1,16})?$/) },
};

function only(name: string, value: string): Parameter {
  return { allowed: `${name}=${value}`, parse: (text) => (text === value ? text : undefined) };
}

function numberIn(pattern: RegExp): Parameter['parse'] {
  return (text) => (pattern.test(text) ? Number(text) : undefined);
}

/** Other names are ignored: proxies and scripts may add some. @throws WrongQuestion */
export function questionIn(query: string | undefined, names: readonly (keyof Question)[]): Question {
  const given = new URLSearchParams(query);
  const entries = names.flatMap((name): [string, string | number][] => {
    const text = given.get(name);
    if (text === null) return [];
    const { allowed, parse } = PARAMETERS[name];
    const value = parse(text);
    if (value === undefined) throw new WrongQuestion(`${name}=${oneLine(text)} is not allowed. Allowed: ${allowed}`);
    return [[name, value]];
  });
  const question = Object.fromEntries(entries) as Question;
  if (question.agent !== undefined && (question.agents ?? question.detail) !== undefined) {
    throw new WrongQuestion('agent=ID is not allowed together with agents=all or detail=none');
  }
  return question;
}
