/** Which events `read` shows. Pure. */
import { InvalidArgumentError } from 'commander';
import { Category, globPattern } from '../../mapping/index.js';
import type { RingEvent } from '../../shm-bridge/types.js';
import { eventCategory, eventName } from './event-text.js';

export interface FilterOptions {
  /** With * and ?. Any of them. */
  event?: readonly string[];
  errors?: boolean;
  /** Microseconds. */
  slow?: number;
}

export type EventFilter = (event: RingEvent) => boolean;

const TIMES: ReadonlySet<string> = new Set(['agent_xfer_time', 'agent_xfer_post_time']);

export function eventFilter({ event: globs, errors, slow }: FilterOptions): EventFilter {
  const filters: EventFilter[] = [];
  if (globs !== undefined) {
    const patterns = globs.map(globPattern);
    filters.push((event) => patterns.some((pattern) => pattern.test(eventName(event))));
  }
  if (errors === true) filters.push((event) => eventCategory(event) === Category.ERROR);
  if (slow !== undefined) {
    const least = BigInt(Math.ceil(slow));
    filters.push((event) => event.value >= least && TIMES.has(eventName(event)));
  }
  return (event) => filters.every((filter) => filter(event));
}

const UNITS_US: Readonly<Record<string, number>> = { us: 1, ms: 1000, s: 1_000_000 };

/** `10ms` and the like, in microseconds. */
export function duration(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(us|ms|s)$/.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError('Allowed: a number and us, ms or s, as in 10ms.');
  return Number(number) * UNITS_US[unit!]!;
}
