import { NixlTelemetryError } from '../errors.js';

/** Throws CONFIG_INVALID unless `value` is a whole number in the range. */
export function wholeNumber(name: string, value: unknown, least: number, most: number): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw new NixlTelemetryError(
    'CONFIG_INVALID',
    `${name} is ${String(value)}: it must be a whole number from ${least} to ${most}`,
  );
}

/** Throws CONFIG_INVALID unless `value` is a path: text, not empty, without NUL. */
export function pathText(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return value;
  throw new NixlTelemetryError('CONFIG_INVALID', `${name} is ${JSON.stringify(value)}: it must be a path`);
}

/** Throws CONFIG_INVALID unless the numbers are positive and strictly increasing. */
export function increasing(name: string, values: readonly number[]): readonly number[] {
  for (const [i, value] of values.entries()) {
    const floor = i === 0 ? 0 : (values[i - 1] as number);
    if (!Number.isFinite(value) || value <= floor) {
      throw new NixlTelemetryError(
        'CONFIG_INVALID',
        `${name} has ${value} after ${floor}: bounds must be positive and strictly increasing`,
      );
    }
  }
  return values;
}
