import { check, invalid, isText, shown } from '../arguments.js';

/** Throws CONFIG_INVALID unless `value` is a whole number in the range. */
export function wholeNumber(name: string, value: unknown, least: number, most: number): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw invalid(`${name} is ${shown(value)}: it must be a whole number from ${least} to ${most}`);
}

/** Throws CONFIG_INVALID unless `value` is a path: text, not empty, without NUL. */
export function pathText(name: string, value: unknown): string {
  if (isText(value)) return value;
  throw invalid(`${name} is ${shown(value)}: it must be a path`);
}

/** Throws CONFIG_INVALID unless `value` is true or false. */
export function trueOrFalse(name: string, value: unknown): boolean {
  check(typeof value === 'boolean', name, value, 'true or false');
  return value as boolean;
}

/** Throws CONFIG_INVALID unless the numbers are positive and strictly increasing. */
export function increasing(name: string, values: readonly number[]): readonly number[] {
  check(Array.isArray(values), name, values, 'an array of bounds');
  for (const [i, value] of values.entries()) {
    const floor = i === 0 ? 0 : (values[i - 1] as number);
    if (!Number.isFinite(value) || value <= floor) {
      throw invalid(`${name} has ${shown(value)} after ${floor}: bounds must be positive and strictly increasing`);
    }
  }
  return values;
}
