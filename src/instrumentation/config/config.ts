/** Options of the instrumentation and the producer, and what they come to. */
import os from 'node:os';
import type { DiagLogger } from '@opentelemetry/api';
import type { InstrumentationConfig } from '@opentelemetry/instrumentation';
import type { AggregationTemporality, InstrumentType } from '@opentelemetry/sdk-metrics';
import { NixlTelemetryError } from '../../errors.js';
import {
  type Allowlist,
  allowlist,
  AttributeRegistry,
  type AttributeSpec,
  type CustomEvent,
  type Naming,
  tallyOptions,
} from '../../mapping/index.js';
import type { SourceOptions } from '../../shm-bridge/types.js';
import type { MetricBuilder } from '../builders/metric-builder.js';
import type { BuilderName } from '../builders/metric-processor.js';
import { CONFIG_VARIABLE, FILE_OPTIONS, readConfigFile } from './config-file.js';
import { DIRECTORY_VARIABLE, optionsFromEnvironment } from './environment.js';
import { checkOptions, type SettingName } from './settings.js';

export interface NixlOptions {
  /**
   * A YAML or JSON file with any of these options. What options and environment say goes before it. Default: the
   * environment's NIXL_OTEL_CONFIG.
   */
  configFile?: string;
  /** Directories whose files are rings, searched to depth 3. Default: the environment's NIXL_TELEMETRY_DIR. */
  directories?: string | readonly string[];
  /** Paths of rings with `*` and `?` in their last part. */
  globs?: string | readonly string[];
  /** `nixl` (default): the names of NIXL's own Prometheus exporter. `otel`: dotted names, UCUM units, seconds. */
  naming?: Naming;
  /** The label `hostname` of naming `nixl`. Default: os.hostname(). */
  hostname?: string;
  /**
   * 1 to 10000. At most a fifth of the agents' flush interval, or a late drain loses events. Default: 20, or less where the
   * environment's NIXL_TELEMETRY_RUN_INTERVAL is below 100.
   */
  drainIntervalMs?: number;
  /** How long the last values of a dead agent stay, default 30000. Longer than the export interval. */
  deadTtlMs?: number;
  /** Drops agents whose life cannot be seen after this long without an event. Default: never. */
  idleTtlMs?: number;
  /** Also reads rings on network and FUSE file systems. Default false. */
  force?: boolean;
  /** User ids: only files that one of them owns are read. Default: anyone's. */
  owners?: readonly number[];
  /**
   * Which events are exported: globs over base event names (`agent_tx_bytes`), with commas between them or in an array;
   * `!` in front excludes. Default: the environment's NIXL_TELEMETRY_ENABLED_METRICS, else everything.
   */
  enabledMetrics?: string | readonly string[];
  /** Attributes of one's own on every series of an agent. */
  attributes?: readonly AttributeSpec[];
  /**
   * The variable in an agent's environment that holds its local rank. Default: what this process's environment names in
   * NIXL_TELEMETRY_RANK_ENV, else LOCAL_RANK.
   */
  rankVariable?: string;
  /**
   * Upper bounds, microseconds, in both namings. Default: the environment's NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US, else
   * NIXL's own, 10 us to 10 s.
   */
  durationBoundsUs?: readonly number[];
  /** Upper bounds of single events' histograms, by base event name and in the event's own unit. */
  histogramBounds?: Readonly<Record<string, readonly number[]>>;
  /** Events that NIXL does not know, with metrics of their own. */
  customEvents?: readonly CustomEvent[];
  /**
   * Which metrics are built, in this order: names of built-in builders, and builders of your own. Default: `legacy`,
   * `transfers`, `events`, `custom`, `agents` and `records`.
   */
  builders?: readonly (BuilderName | MetricBuilder)[];
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

/** What is told of agents, and in which words: the same for all who read one source. */
export interface Profile {
  readonly naming: Naming;
  readonly hostname: string;
  readonly events: Allowlist;
  readonly attributes: AttributeRegistry;
  readonly rankVariable: string;
  readonly customEvents: readonly CustomEvent[];
  readonly builders: readonly (BuilderName | MetricBuilder)[] | undefined;
}

/** Options after validation, with defaults. */
export interface Settings extends Profile {
  readonly seriesLimit: number;
  /** Undefined when neither options nor environment say where the rings are. */
  readonly source: SourceOptions | undefined;
}

const COMMON: readonly SettingName[] = ['configFile', ...FILE_OPTIONS.filter((name) => name !== 'seriesLimit')];

export const NOTHING_CONFIGURED = `no rings to read: set the option "directories" (or "globs"), or the environment variable ${DIRECTORY_VARIABLE}`;
export const DEFAULT_SERIES_LIMIT = 1900;
export const DEFAULT_RANK_VARIABLE = 'LOCAL_RANK';

/** @throws NixlTelemetryError CONFIG_INVALID */
export function instrumentationSettings(options: NixlInstrumentationConfig): Settings {
  checkOptions(options, ['enabled', 'seriesLimit', ...COMMON]);
  return resolved(options);
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

/** Builders of one's own are the same only if they are the same object. */
export function sameSettings(a: Settings, b: Settings): boolean {
  const { builders: before = [], ...restBefore } = a;
  const { builders: after = [], ...restAfter } = b;
  const sameBuilders = before.length === after.length && before.every((one, i) => one === after[i]);
  return sameBuilders && JSON.stringify(restBefore) === JSON.stringify(restAfter);
}

/** An entry that matches nothing is worth a word, but may be right: backends have events of their own. */
export function warnOfUnmatched({ unmatched }: Allowlist, logger: Pick<DiagLogger, 'warn'>): void {
  if (unmatched.length > 0) logger.warn(`enabledMetrics: no known event matches ${unmatched.join(', ')}`);
}

function resolved(given: NixlInstrumentationConfig): Settings {
  const options = merged(given);
  const { seriesLimit = DEFAULT_SERIES_LIMIT } = options;
  const { naming = 'nixl', hostname = os.hostname(), enabledMetrics } = options;
  const { rankVariable = DEFAULT_RANK_VARIABLE } = options;
  const { customEvents = [], builders } = options;
  const declared = customEvents.map(({ event }) => (typeof event === 'number' ? `type_${event}` : event));
  const entries = (listed(enabledMetrics) ?? []).flatMap((entry) => entry.split(','));
  const attributes = new AttributeRegistry(options.attributes);
  return {
    naming,
    hostname,
    seriesLimit,
    events: allowlist(entries, declared),
    attributes,
    rankVariable,
    customEvents,
    builders,
    source: sourceOptions(options),
  };
}

/** Options go before the environment, and that before the file. Whoever names a place to read names all of them. */
function merged(options: NixlInstrumentationConfig): NixlInstrumentationConfig {
  const { configFile = process.env[CONFIG_VARIABLE] } = options;
  const file = configFile ? readConfigFile(configFile).options : {};
  const layers: NixlInstrumentationConfig[] = [defined(options), optionsFromEnvironment(), file];
  const { directories, globs } = layers.find((layer) => layer.directories ?? layer.globs) ?? {};
  const [own, environment, rest] = layers.map(({ directories: _, globs: __, ...layer }) => layer);
  return { ...rest, ...environment, ...own, ...defined({ directories, globs }) };
}

function sourceOptions(options: NixlOptions): SourceOptions | undefined {
  const globs = listed(options.globs);
  const directories = listed(options.directories);
  if (directories === undefined && globs === undefined) return undefined;
  const { drainIntervalMs, deadTtlMs, idleTtlMs, force, owners } = options;
  const { durationBoundsUs, sizeBounds, throughputBounds, histogramBounds, customEvents } = options;
  return {
    ...(directories === undefined ? {} : { directories }),
    ...(globs === undefined ? {} : { globs }),
    ...defined({ drainIntervalMs, deadTtlMs, idleTtlMs, force, owners }),
    tally: tallyOptions(defined({ durationBoundsUs, sizeBounds, throughputBounds, histogramBounds, customEvents })),
  };
}

function listed(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the properties that are undefined: those mean "the default". */
function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
