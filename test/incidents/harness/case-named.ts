/** Cases of all lists by their names. */
import { type Case, INCIDENTS, ODDITIES } from '../cases.js';
import { FIELD } from '../field.js';
import { randomCase } from '../generate.js';

export const LABELLED: readonly Case[] = [...INCIDENTS, ...ODDITIES, ...FIELD];

/** @throws Error for a name that no list has */
export function caseNamed(name: string): Case {
  const [, seed, index] = /^random-(\d+)-(\d+)$/.exec(name) ?? [];
  const one =
    seed === undefined ? LABELLED.find((each) => each.name === name) : randomCase(Number(seed), Number(index));
  if (one === undefined) throw new Error(`there is no case ${name}`);
  return one;
}
