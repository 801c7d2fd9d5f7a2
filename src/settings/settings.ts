/** What each option may be: one row per option. */
import { invalid, shown } from '../arguments.js';
import { NAMINGS } from '../mapping/index.js';
import { ATTRIBUTES } from './attribute-shapes.js';
import { BOUNDS, BUILDERS, CUSTOM_EVENTS, HISTOGRAM_BOUNDS } from './event-shapes.js';
import { NIXL_LABELS_SHAPE, NIXL_RELEASE } from './nixl-series.js';
import {
  also,
  boolean,
  list,
  number,
  oneOrMore,
  pathText,
  type Shape,
  text,
  texts,
  value,
  variableName,
  word,
} from './shape.js';

/** The native part's limit; 34 years. */
export const LONGEST_MS = 2 ** 40;

const GLOB = /^([^*?[]*\/)?[^/]*\/*$/;
const glob = value(
  'a path with * and ? in its last part only',
  { type: 'string', minLength: 1, pattern: GLOB.source },
  (given) => text.problems(given).length === 0 && GLOB.test(given as string),
);

function milliseconds(least: number, most: number): Shape {
  return number(`a whole number of milliseconds, ${least} to ${most}`, least, most, { integer: true });
}

/** Commas stand between entries in a text, as in NIXL's variable. */
const enabledMetrics = also(
  { ...texts, allowed: 'text or an array of texts: globs over event names' },
  (given: string | readonly string[]) => {
    const entries = [given].flat().flatMap((one) => one.split(','));
    if (entries.every((entry) => entry.trim() === '')) return 'names no event; without it, every event is exported';
    return entries.some((entry) => entry.trim() === '!')
      ? 'has a ! with nothing behind it that it excludes'
      : undefined;
  },
);

export const SETTINGS = {
  enabled: boolean,
  configFile: text,
  directories: texts,
  globs: oneOrMore(glob, `${glob.allowed}, or a non-empty array of them`),
  naming: word(NAMINGS),
  nixlRelease: NIXL_RELEASE,
  nixlLabels: NIXL_LABELS_SHAPE,
  hostname: text,
  drainIntervalMs: milliseconds(1, 10_000),
  deadTtlMs: milliseconds(0, LONGEST_MS),
  idleTtlMs: milliseconds(1, LONGEST_MS),
  force: boolean,
  /** 4294967295 is -1, which no user has. */
  owners: list(number('a user id, 0 to 4294967294', 0, 2 ** 32 - 2, { integer: true }), { minItems: 1 }),
  enabledMetrics,
  attributes: ATTRIBUTES,
  rankVariable: variableName,
  customEvents: CUSTOM_EVENTS,
  builders: BUILDERS,
  histogramBounds: HISTOGRAM_BOUNDS,
  durationBoundsUs: BOUNDS,
  sizeBounds: BOUNDS,
  throughputBounds: BOUNDS,
  seriesLimit: number('an integer from 20 to 1900', 20, 1900, { integer: true }),
  durationBudgetMs: number('a number of milliseconds per second, 1 to 1000', 1, 1000),
  temporality: value(
    '"cumulative", "delta" or a function from instrument type to AggregationTemporality',
    undefined,
    (given) => given === 'cumulative' || given === 'delta' || typeof given === 'function',
  ),
} satisfies Record<string, Shape>;

export type SettingName = keyof typeof SETTINGS;

/** @throws NixlTelemetryError CONFIG_INVALID, naming each wrong option, its value and what is allowed. */
export function checkOptions(options: unknown, names: readonly SettingName[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid(`options must be an object, not ${shown(options)}`);
  }
  const wrong = Object.entries(options).flatMap(([name, given]) => {
    if (!names.includes(name as SettingName)) {
      return [`unknown option ${JSON.stringify(name)}; there are ${names.join(', ')}`];
    }
    const problems = given === undefined ? [] : SETTINGS[name as SettingName].problems(given, [name]);
    return problems.map(({ path, text }) => `${pathText(path)} ${text}`);
  });
  if (wrong.length > 0) throw invalid(wrong.join('\n'));
}
