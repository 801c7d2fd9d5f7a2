/** What each option may be: one row per option. Used by config.ts only. */
import { NixlTelemetryError } from '../errors.js';
import { NAMINGS } from '../mapping/index.js';

/** True when the value is allowed. */
type Check = (value: unknown) => boolean;

interface Setting {
  readonly allowed: string;
  readonly check: Check;
}

const isText: Check = (value) => typeof value === 'string' && value.length > 0 && !value.includes('\0');
const isBoolean: Check = (value) => typeof value === 'boolean';
const isTextOrTexts: Check = (value) =>
  isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText));

function isNumber(min: number, max: number, integer = false): Check {
  return (value) => typeof value === 'number' && value >= min && value <= max && (!integer || Number.isInteger(value));
}

const MAX_BOUNDS = 256;
const isBounds: Check = (value) =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MAX_BOUNDS &&
  value.every(
    (bound: unknown, i) => Number.isFinite(bound) && (bound as number) > (i === 0 ? 0 : (value[i - 1] as number)),
  );

const texts = 'a non-empty string or a non-empty array of them';
const bounds = `1 to ${MAX_BOUNDS} positive, strictly increasing numbers`;

export const SETTINGS = {
  enabled: { allowed: 'true or false', check: isBoolean },
  directories: { allowed: texts, check: isTextOrTexts },
  globs: { allowed: texts, check: isTextOrTexts },
  naming: {
    allowed: NAMINGS.map((naming) => `"${naming}"`).join(' or '),
    check: (value) => NAMINGS.includes(value as never),
  },
  hostname: { allowed: 'a non-empty string', check: isText },
  drainIntervalMs: { allowed: 'a number from 1 to 10000', check: isNumber(1, 10_000) },
  deadTtlMs: { allowed: 'a number of milliseconds, 0 or more', check: isNumber(0, Number.MAX_SAFE_INTEGER) },
  idleTtlMs: { allowed: 'a number of milliseconds, 1 or more', check: isNumber(1, Number.MAX_SAFE_INTEGER) },
  force: { allowed: 'true or false', check: isBoolean },
  enabledMetrics: { allowed: 'text or an array of texts: globs over event names', check: isTextOrTexts },
  durationBoundsUs: { allowed: bounds, check: isBounds },
  sizeBounds: { allowed: bounds, check: isBounds },
  throughputBounds: { allowed: bounds, check: isBounds },
  seriesLimit: { allowed: 'an integer from 20 to 1900', check: isNumber(20, 1900, true) },
  temporality: {
    allowed: '"cumulative", "delta" or a function from instrument type to AggregationTemporality',
    check: (value) => value === 'cumulative' || value === 'delta' || typeof value === 'function',
  },
} satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

/** @throws NixlTelemetryError CONFIG_INVALID, naming the first wrong option, its value and what is allowed. */
export function checkOptions(options: unknown, names: readonly SettingName[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid(`options must be an object, not ${shown(options)}`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (!names.includes(name as SettingName)) {
      throw invalid(`unknown option ${JSON.stringify(name)}; there are ${names.join(', ')}`);
    }
    const { allowed, check } = SETTINGS[name as SettingName];
    if (value !== undefined && !check(value)) throw invalid(`${name} is ${shown(value)}; allowed: ${allowed}`);
  }
}

function invalid(message: string): NixlTelemetryError {
  return new NixlTelemetryError('CONFIG_INVALID', message);
}

/** A wrong value in words; short, because it may be anything. */
function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  const text = typeof value === 'number' ? String(value) : json(value);
  return text.length > 100 ? `${text.slice(0, 97)}...` : text;
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? typeof value;
  } catch {
    return typeof value;
  }
}
