/** Options of the instrumentation and the producer, and what they come to. */
import os from 'node:os';
import type { InstrumentationConfig } from '@opentelemetry/instrumentation';
import type { AggregationTemporality, InstrumentType } from '@opentelemetry/sdk-metrics';
import { NixlTelemetryError } from '../errors.js';
import { type Naming, tallyOptions } from '../mapping/index.js';
import type { SourceOptions } from '../shm-bridge/types.js';
import { checkOptions, type SettingName } from './settings.js';

export interface NixlOptions {
  /** Directories whose files are rings, searched to depth 3. Default: the environment's NIXL_TELEMETRY_DIR. */
  directories?: string | readonly string[];
  /** Paths of rings with `*` and `?` in their last part. */
  globs?: string | readonly string[];
  /** `nixl` (default): the names of NIXL's own Prometheus exporter. `otel`: dotted names, UCUM units, seconds. */
  naming?: Naming;
  /** The label `hostname` of naming `nixl`. Default: os.hostname(). */
  hostname?: string;
  /** 1 to 10000, default 20. At most a fifth of the agents' flush interval, or a late drain loses events. */
  drainIntervalMs?: number;
  /** How long the last values of a dead agent stay, default 30000. Longer than the export interval. */
  deadTtlMs?: number;
  /** Drops agents whose life cannot be seen after this long without an event. Default: never. */
  idleTtlMs?: number;
  /** Also reads rings on network and FUSE file systems. Default false. */
  force?: boolean;
  /** Upper bounds, microseconds, in both namings. Default: NIXL's own, 10 us to 10 s. */
  durationBoundsUs?: readonly number[];
  /** Upper bounds, bytes. */
  sizeBounds?: readonly number[];
  /** Upper bounds, bytes per second. */
  throughputBounds?: readonly number[];
}

export interface NixlInstrumentationConfig extends InstrumentationConfig, NixlOptions {
  /**
   * Most series of agents' own per instrument, 20 to 1900 (default): the SDK keeps 2000 per instrument and never
   * forgets one. Agents beyond it are reported together as agent `other`.
   */
  seriesLimit?: number;
}

/** What a reader's `selectAggregationTemporality` is; called at every collect, so the reader may be made later. */
export type TemporalitySelector = (instrumentType: InstrumentType) => AggregationTemporality;
export type Temporality = 'cumulative' | 'delta' | TemporalitySelector;

export interface NixlMetricProducerOptions extends NixlOptions {
  /** Of counters and histograms; gauges and up-down counters are always cumulative. Default: cumulative. */
  temporality?: Temporality;
}

/** Options after validation, with defaults. */
export interface Settings {
  readonly naming: Naming;
  readonly hostname: string;
  readonly seriesLimit: number;
  /** Undefined when neither options nor environment say where the rings are. */
  readonly source: SourceOptions | undefined;
}

const COMMON: readonly SettingName[] = [
  'directories',
  'globs',
  'naming',
  'hostname',
  'drainIntervalMs',
  'deadTtlMs',
  'idleTtlMs',
  'force',
  'durationBoundsUs',
  'sizeBounds',
  'throughputBounds',
];

export const DIRECTORY_VARIABLE = 'NIXL_TELEMETRY_DIR';
export const NOTHING_CONFIGURED = `no rings to read: set the option "directories" (or "globs"), or the environment variable ${DIRECTORY_VARIABLE}`;
const DEFAULT_SERIES_LIMIT = 1900;

/** @throws NixlTelemetryError CONFIG_INVALID */
export function instrumentationSettings(options: NixlInstrumentationConfig): Settings {
  checkOptions(options, ['enabled', 'seriesLimit', ...COMMON]);
  return resolved(options, options.seriesLimit);
}

/** @throws NixlTelemetryError CONFIG_INVALID, also when nothing says where the rings are. */
export function producerSettings(options: NixlMetricProducerOptions): Settings & { readonly source: SourceOptions } {
  checkOptions(options, ['temporality', ...COMMON]);
  const { source, ...settings } = resolved(options);
  if (source === undefined) throw new NixlTelemetryError('CONFIG_INVALID', NOTHING_CONFIGURED);
  return { ...settings, source };
}

/** What `instrumentation.metricProducer()` takes: the source is the instrumentation's own. */
export function checkReaderOptions(options: object): void {
  checkOptions(options, ['temporality', 'naming', 'hostname']);
}

function resolved(options: NixlOptions, seriesLimit = DEFAULT_SERIES_LIMIT): Settings {
  const { naming = 'nixl', hostname = os.hostname() } = options;
  return { naming, hostname, seriesLimit, source: sourceOptions(options) };
}

function sourceOptions(options: NixlOptions): SourceOptions | undefined {
  const globs = listed(options.globs);
  const directories = listed(options.directories) ?? (globs === undefined ? fromEnvironment() : undefined);
  if (directories === undefined && globs === undefined) return undefined;
  const { drainIntervalMs, deadTtlMs, idleTtlMs, force, durationBoundsUs, sizeBounds, throughputBounds } = options;
  return {
    ...(directories === undefined ? {} : { directories }),
    ...(globs === undefined ? {} : { globs }),
    ...defined({ drainIntervalMs, deadTtlMs, idleTtlMs, force }),
    tally: tallyOptions(defined({ durationBoundsUs, sizeBounds, throughputBounds })),
  };
}

function fromEnvironment(): string[] | undefined {
  const directory = process.env[DIRECTORY_VARIABLE];
  return directory === undefined || directory === '' ? undefined : [directory];
}

function listed(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the properties that are undefined: those mean "the default". */
function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
