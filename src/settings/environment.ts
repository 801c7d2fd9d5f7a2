/** NIXL's variables as options, with NIXL's meaning. What an option says goes before them. */
import { NixlTelemetryError } from '../errors.js';
import type { NixlOptions } from './options.js';
import { BOUNDS } from './event-shapes.js';
import { SETTINGS } from './settings.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export const DIRECTORY_VARIABLE = 'NIXL_TELEMETRY_DIR';
const ENABLED_METRICS = 'NIXL_TELEMETRY_ENABLED_METRICS';
const BUCKETS = 'NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US';
const RUN_INTERVAL = 'NIXL_TELEMETRY_RUN_INTERVAL';
const RANK_VARIABLE = 'NIXL_TELEMETRY_RANK_ENV';

/** NIXL's variables that become options. */
export const OPTION_VARIABLES: readonly string[] = [
  DIRECTORY_VARIABLE,
  ENABLED_METRICS,
  BUCKETS,
  RUN_INTERVAL,
  RANK_VARIABLE,
];

const DRAINS_PER_FLUSH = 5;
export const DEFAULT_DRAIN_INTERVAL_MS = 20;

/**
 * An empty variable is one that is not set.
 * @throws NixlTelemetryError CONFIG_INVALID, naming the variable, its value and what is allowed.
 */
export function optionsFromEnvironment(environment: Environment = process.env): NixlOptions {
  const { [DIRECTORY_VARIABLE]: directory, [ENABLED_METRICS]: metrics } = environment;
  const { [BUCKETS]: buckets, [RUN_INTERVAL]: interval, [RANK_VARIABLE]: rank } = environment;
  return {
    ...(directory ? { directories: directory } : {}),
    ...(metrics ? { enabledMetrics: checked('enabledMetrics', ENABLED_METRICS, metrics) } : {}),
    ...(buckets ? { durationBoundsUs: boundsIn(buckets) } : {}),
    ...(interval ? { drainIntervalMs: drainIntervalFor(wholeMs(interval)) } : {}),
    ...(rank ? { rankVariable: checked('rankVariable', RANK_VARIABLE, rank) } : {}),
  };
}

/** Applies the option's check to the variable. */
function checked(option: 'enabledMetrics' | 'rankVariable', variable: string, text: string): string {
  const [problem] = SETTINGS[option].problems(text);
  if (problem === undefined) return text;
  throw new NixlTelemetryError('CONFIG_INVALID', `${variable} ${problem.text}`);
}

/** NIXL's rules: positive numbers, fractions allowed, strictly increasing, with commas between them. */
function boundsIn(text: string): number[] {
  const bounds = text.split(',').map((part) => (/^\s*\d*\.?\d+(e[+-]?\d+)?\s*$/i.test(part) ? Number(part) : NaN));
  if (BOUNDS.problems(bounds).length === 0) return bounds;
  throw invalid(BUCKETS, text, `${BOUNDS.allowed} with commas between them`);
}

function wholeMs(text: string): number {
  const ms = /^\d+$/.test(text.trim()) ? Number(text) : 0;
  if (ms < 1) throw invalid(RUN_INTERVAL, text, 'a whole number of milliseconds, 1 or more');
  return ms;
}

/** Rings are emptied five times in one flush interval of the agents, and not less often than by default. */
export function drainIntervalFor(flushMs: number): number {
  return Math.max(1, Math.min(DEFAULT_DRAIN_INTERVAL_MS, Math.floor(flushMs / DRAINS_PER_FLUSH)));
}

function invalid(variable: string, value: string, allowed: string): NixlTelemetryError {
  return new NixlTelemetryError('CONFIG_INVALID', `${variable} is ${JSON.stringify(value)}; allowed: ${allowed}`);
}
