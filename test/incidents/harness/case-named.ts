/** Cases of all lists by their names. */
import { type Case, INCIDENTS, ODDITIES } from '../cases.js';
import { FIELD } from '../field.js';
import { randomCase } from '../generate.js';
import { healthyNamed } from '../healthy.js';
import { LIVES } from '../lives.js';

export const LABELLED: readonly Case[] = [...INCIDENTS, ...ODDITIES, ...FIELD, ...LIVES];

/** @throws Error for a name that no list has */
export function caseNamed(name: string): Case {
  const [, seed, index] = /^random-(\d+)-(\d+)$/.exec(name) ?? [];
  if (seed !== undefined) return randomCase(Number(seed), Number(index));
  const one = LABELLED.find((each) => each.name === name) ?? healthyNamed(name);
  if (one === undefined) throw new Error(`there is no case ${name}`);
  return one;
}
