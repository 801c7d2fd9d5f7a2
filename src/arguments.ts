/** Checks of what callers give: a wrong value is named, shown and refused. Pure. */
import { NixlTelemetryError } from './errors.js';

export function invalid(message: string): NixlTelemetryError {
  return new NixlTelemetryError('CONFIG_INVALID', message);
}

/** A wrong value in words; short, because it may be anything. */
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
    return 'an object that holds itself or cannot be read';
  }
}

export function isObject(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

/** @throws NixlTelemetryError CONFIG_INVALID unless the check holds. */
export function check(holds: boolean, name: string, given: unknown, allowed: string): void {
  if (!holds) throw invalid(`${name} is ${shown(given)}; allowed: ${allowed}`);
}

/** @throws NixlTelemetryError CONFIG_INVALID unless it is an object, with no other keys than these. */
export function optionsObject<T extends object>(name: string, given: T, keys: readonly (keyof T & string)[]): T {
  check(isObject(given), name, given, `an object with ${keys.join(', ')}`);
  for (const key of Object.keys(given)) {
    if (!keys.includes(key as never))
      throw invalid(`${name} has ${shown(key)}, which is unknown; there are ${keys.join(', ')}`);
  }
  return given;
}

/** @throws NixlTelemetryError CONFIG_INVALID unless each of them passes. */
export function listOf<T>(name: string, given: readonly T[], item: (name: string, one: T) => unknown): readonly T[] {
  check(Array.isArray(given), name, given, 'an array');
  given.forEach((one, i) => item(`${name}[${i}]`, one));
  return given;
}

export function isText(given: unknown): given is string {
  return typeof given === 'string' && given !== '' && !given.includes('\0');
}
