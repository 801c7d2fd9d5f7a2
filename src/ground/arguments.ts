/** Checks of arguments: a wrong value is refused with its name, the value, and the values allowed. Pure. */
import { NixlTelemetryError } from './errors.js';

export function invalid(message: string): NixlTelemetryError {
  return new NixlTelemetryError('CONFIG_INVALID', message);
}

/** Returns a short text of any value, for error messages. */
export function shown(given: unknown): string {
  if (typeof given === 'function') return 'a function';
  if (typeof given === 'symbol') return 'a symbol';
  const text = typeof given === 'number' ? String(given) : json(given);
  return text.length > 100 ? `${text.slice(0, 97)}...` : text;
}

function json(given: unknown): string {
  try {
    return JSON.stringify(given, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? typeof given;
  } catch {
    return 'an object that is cyclic or cannot be read';
  }
}

export function isObject(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

export function isText(given: unknown): given is string {
  return typeof given === 'string' && given !== '' && !given.includes('\0');
}

/** @throws NixlTelemetryError CONFIG_INVALID unless the check holds. */
export function check(holds: boolean, name: string, given: unknown, allowed: string): void {
  if (!holds) throw invalid(`${name} is ${shown(given)}; allowed: ${allowed}`);
}

/** @throws NixlTelemetryError CONFIG_INVALID unless `given` is an object with no other keys than these. */
export function optionsObject<T extends object>(name: string, given: T, keys: readonly (keyof T & string)[]): T {
  check(isObject(given), name, given, `an object with ${keys.join(', ')}`);
  for (const key of Object.keys(given)) {
    if (!keys.includes(key as never))
      throw invalid(`${name} has ${shown(key)}, which is unknown; there are ${keys.join(', ')}`);
  }
  return given;
}

/** @throws NixlTelemetryError CONFIG_INVALID unless `given` is an array and each item passes. */
export function listOf<T>(name: string, given: readonly T[], item: (name: string, one: T) => unknown): readonly T[] {
  check(Array.isArray(given), name, given, 'an array');
  for (const [i, one] of given.entries()) item(`${name}[${i}]`, one); // visits holes, too
  return given;
}

/** @throws NixlTelemetryError CONFIG_INVALID unless `given` is a whole number in the range. */
export function wholeNumberArgument(name: string, given: unknown, least: number, most: number): number {
  const holds = Number.isInteger(given) && (given as number) >= least && (given as number) <= most;
  check(holds, name, given, `whole numbers from ${least} to ${most}`);
  return given as number;
}

const U64_MOST = 2n ** 64n - 1n;

/** @throws NixlTelemetryError CONFIG_INVALID unless `given` is a whole number of 64 bits without sign. */
export function u64(name: string, given: unknown): bigint {
  if (typeof given !== 'bigint' && !Number.isInteger(given)) check(false, name, given, 'a bigint or a whole number');
  const value = BigInt(given as bigint | number);
  if (value >= 0n && value <= U64_MOST) return value;
  throw invalid(`${name} is ${value}; allowed: 0 to 2^64 - 1`);
}

/** @throws NixlTelemetryError CONFIG_INVALID unless `given` can be a path: not empty, without NUL. */
export function pathArgument(name: string, given: unknown): string {
  check(isText(given), name, given, 'a path');
  return given as string;
}

/** @throws NixlTelemetryError CONFIG_INVALID unless `given` is true or false. */
export function trueOrFalse(name: string, given: unknown): boolean {
  check(typeof given === 'boolean', name, given, 'true or false');
  return given as boolean;
}

/** Limit of a list of bounds: native code numbers the buckets with 16 bits. */
const MOST_BOUNDS = 10_000;

/** @throws NixlTelemetryError CONFIG_INVALID unless the numbers are positive, strictly increasing and at most 10,000. */
export function increasing(name: string, given: readonly number[]): readonly number[] {
  let floor = 0;
  const bounds = listOf(name, given, (at, value) => {
    check(Number.isFinite(value) && value > floor, at, value, `numbers above ${floor}: bounds increase strictly`);
    floor = value;
  });
  check(bounds.length <= MOST_BOUNDS, `the length of ${name}`, bounds.length, `at most ${MOST_BOUNDS}`);
  return bounds;
}
