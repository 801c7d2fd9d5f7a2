/** NIXL's variables as options, with NIXL's meaning. What an option says goes before them. */
import { NixlTelemetryError } from '../errors.js';
import type { NixlOptions } from './config.js';

type Environment = Readonly<Record<string, string | undefined>>;

export const DIRECTORY_VARIABLE = 'NIXL_TELEMETRY_DIR';
const ENABLED_METRICS = 'NIXL_TELEMETRY_ENABLED_METRICS';
const BUCKETS = 'NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US';
const RUN_INTERVAL = 'NIXL_TELEMETRY_RUN_INTERVAL';
const RANK_VARIABLE = 'NIXL_TELEMETRY_RANK_ENV';

/** Rings are emptied five times in one flush interval of the agents, and not less often than by default. */
const DRAINS_PER_FLUSH = 5;
const DEFAULT_DRAIN_INTERVAL_MS = 20;
const MAX_BOUNDS = 256;

/**
 * An empty variable is one that is not set.
 * @throws NixlTelemetryError CONFIG_INVALID, naming the variable, its value and what is allowed.
 */
export function optionsFromEnvironment(environment: Environment = process.env): NixlOptions {
  const { [DIRECTORY_VARIABLE]: directory, [ENABLED_METRICS]: metrics } = environment;
  const { [BUCKETS]: buckets, [RUN_INTERVAL]: interval, [RANK_VARIABLE]: rank } = environment;
  return {
    ...(directory ? { directories: directory } : {}),
    ...(metrics ? { enabledMetrics: metrics } : {}),
    ...(buckets ? { durationBoundsUs: boundsIn(buckets) } : {}),
    ...(interval ? { drainIntervalMs: drainIntervalFor(interval) } : {}),
    ...(rank ? { rankVariable: rank } : {}),
  };
}

/** NIXL's rules: positive numbers, fractions allowed, strictly increasing, with commas between them. */
function boundsIn(text: string): number[] {
  const bounds = text.split(',').map((part) => (/^\s*\d*\.?\d+(e[+-]?\d+)?\s*$/i.test(part) ? Number(part) : NaN));
  const rising = bounds.every((bound, i) => Number.isFinite(bound) && bound > (bounds[i - 1] ?? 0));
  if (rising && bounds.length <= MAX_BOUNDS) return bounds;
  throw invalid(BUCKETS, text, `1 to ${MAX_BOUNDS} positive, strictly increasing numbers with commas between them`);
}

function drainIntervalFor(text: string): number {
  const flushMs = /^\d+$/.test(text.trim()) ? Number(text) : 0;
  if (flushMs < 1) throw invalid(RUN_INTERVAL, text, 'a whole number of milliseconds, 1 or more');
  return Math.max(1, Math.min(DEFAULT_DRAIN_INTERVAL_MS, Math.floor(flushMs / DRAINS_PER_FLUSH)));
}

function invalid(variable: string, value: string, allowed: string): NixlTelemetryError {
  return new NixlTelemetryError('CONFIG_INVALID', `${variable} is ${JSON.stringify(value)}; allowed: ${allowed}`);
}
