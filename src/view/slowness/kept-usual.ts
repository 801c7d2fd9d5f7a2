/** What is usual, as a file keeps it over restarts. Pure. */
import { isObject } from '../../ground/arguments.js';
import type { Curve } from './host-curves.js';
import type { UnevenSince } from './uneven.js';
import type { Usual, UsualClass } from './usual-times.js';

/** What is usual for an agent in each direction that it moved in. Without blocks: a change was accepted, and nothing learned since. */
export interface KeptAgent {
  /** Path of its ring. */
  readonly place: string;
  readonly transmit?: Usual;
  readonly receive?: Usual;
  readonly unevenSince?: UnevenSince;
}

export interface KeptUsual {
  readonly curves: { readonly transmit: readonly Curve[]; readonly receive: readonly Curve[] };
  readonly agents: readonly KeptAgent[];
}

/** Returns true if this is such a value, whatever the file holds. */
export function isKeptUsual(json: object): json is KeptUsual {
  const { curves, agents } = json as Partial<KeptUsual>;
  const lists = [curves?.transmit, curves?.receive];
  return (
    lists.every((list) => Array.isArray(list) && list.every(isCurve)) &&
    Array.isArray(agents) &&
    agents.every(isKeptAgent)
  );
}

function isCurve(json: unknown): json is Curve {
  const { agent, usual } = (json ?? {}) as Partial<Curve>;
  return typeof agent === 'string' && isUsual(usual);
}

function isKeptAgent(json: unknown): json is KeptAgent {
  const { place, transmit, receive, unevenSince = {} } = (json ?? {}) as Partial<KeptAgent>;
  const areUsual = [transmit, receive].every((usual) => usual === undefined || isUsual(usual));
  const areTimes = isObject(unevenSince) && Object.values(unevenSince).every(isAmount);
  return typeof place === 'string' && areUsual && areTimes;
}

function isUsual(json: unknown): json is Usual {
  const { blocks, bytesPerSecond, flushSize, classes } = (json ?? {}) as Partial<Usual>;
  return [blocks, bytesPerSecond, flushSize].every(isAmount) && Array.isArray(classes) && classes.every(isUsualClass);
}

function isUsualClass(json: unknown): json is UsualClass {
  const { upToBytes, blocks, transfers, meanBytes, p10, p50, p90, post } = (json ?? {}) as Partial<UsualClass>;
  const amounts = [upToBytes, blocks, transfers, meanBytes, p10, p50, p90];
  return [...amounts, ...(post === undefined ? [] : [post.blocks, post.p10, post.p50])].every(isAmount);
}

function isAmount(json: unknown): boolean {
  return typeof json === 'number' && Number.isFinite(json) && json >= 0;
}
