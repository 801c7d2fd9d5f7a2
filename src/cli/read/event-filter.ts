/** Which events `read` shows. Pure. */
import { InvalidArgumentError } from 'commander';
import { Category, globPattern } from '../../mapping/index.js';
import type { RingEventKind } from '../../shm-bridge/types.js';
import { eventCategory, eventName } from './event-words.js';

export interface FilterOptions {
  /** With * and ?. Any of them. */
  event?: readonly string[];
  errors?: boolean;
  /** Microseconds. */
  slow?: number;
}

/** The least value of events of this kind that are shown; undefined: none is. */
export type EventFilter = (kind: RingEventKind) => bigint | undefined;

const TIMES: ReadonlySet<string> = new Set(['agent_xfer_time', 'agent_xfer_post_time']);

export function eventFilter({ event: globs, errors, slow }: FilterOptions): EventFilter {
  const shown: ((kind: RingEventKind) => boolean)[] = [];
  if (globs !== undefined) {
    const patterns = globs.map(globPattern);
    shown.push((kind) => patterns.some((pattern) => pattern.test(eventName(kind))));
  }
  if (errors === true) shown.push((kind) => eventCategory(kind) === Category.ERROR);
  if (slow !== undefined) shown.push((kind) => TIMES.has(eventName(kind)));
  const least = BigInt(Math.ceil(slow ?? 0));
  return (kind) => (shown.every((shows) => shows(kind)) ? least : undefined);
}

const UNITS_US: Readonly<Record<string, number>> = { us: 1, ms: 1000, s: 1_000_000 };

/** `10ms` and the like, in microseconds. */
export function duration(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(us|ms|s)$/.exec(text) ?? [];
  const us = Number(number) * UNITS_US[unit ?? '']!;
  if (Number.isFinite(us)) return us;
  throw new InvalidArgumentError('Allowed: a number and us, ms or s, as in 10ms.');
}
