/** What options come to. */
import os from 'node:os';
import type { DiagLogger } from '@opentelemetry/api';
import { invalid } from '../arguments.js';
import {
  type Allowlist,
  allowlist,
  AttributeRegistry,
  DEFAULT_BOUNDS,
  errorName,
  isCustomError,
  tallyOptions,
} from '../mapping/index.js';
import type { SourceOptions } from '../shm-bridge/types.js';
import type { MetricBuilder } from '../instrumentation/builders/metric-builder.js';
import type { BuilderName } from '../instrumentation/builders/metric-processor.js';
import { oneLine } from '../instrumentation/one-line.js';
import {
  CONFIG_VARIABLE,
  FILE_OPTIONS,
  FOR_INSTRUMENTS,
  isForInstruments,
  optionsOf,
  readSettings,
  type WrittenSettings,
} from './config-file.js';
import { DIRECTORY_VARIABLE, type Environment, optionsFromEnvironment } from './environment.js';
import type { NixlInstrumentationConfig, NixlMetricProducerOptions, NixlOptions } from './options.js';
import { DEFAULT_DURATION_BUDGET_MS } from '../instrumentation/instruments/sampling.js';
import { passedOver } from './known-events.js';
import { labelProblems, type NixlSeries, nixlSeriesOf } from './nixl-series.js';
import { checkOptions, type SettingName } from './settings.js';
import { pathText } from './shape.js';

/** What is told of agents, and in which words: the same for all who read one source. */
export interface Profile extends NixlSeries {
  readonly hostname: string;
  readonly events: Allowlist;
  readonly attributes: AttributeRegistry;
  readonly rankVariable: string;
  readonly builders: readonly (BuilderName | MetricBuilder)[] | undefined;
}

/** Options after validation, with defaults. */
export interface Settings extends Profile {
  readonly seriesLimit: number;
  readonly durationBudgetMs: number;
  /** Undefined when neither options nor environment say where the rings are. */
  readonly source: SourceOptions | undefined;
}

const COMMON: readonly SettingName[] = ['configFile', ...FILE_OPTIONS.filter((name) => !isForInstruments(name))];

export const NOTHING_CONFIGURED = `no rings to read: set the option "directories" (or "globs"), or the environment variable ${DIRECTORY_VARIABLE}`;
export const DEFAULT_SERIES_LIMIT = 1900;
export const DEFAULT_RANK_VARIABLE = 'LOCAL_RANK';

/** @throws NixlTelemetryError CONFIG_INVALID */
export function instrumentationSettings(options: NixlInstrumentationConfig): Settings {
  checkOptions(options, ['enabled', ...FOR_INSTRUMENTS, ...COMMON]);
  return resolved(options, process.env);
}

export interface ProducerSettings extends Settings {
  readonly source: SourceOptions;
}

/**
 * `file`: what was read of the configuration file already.
 * @throws NixlTelemetryError CONFIG_INVALID, also when nothing says where the rings are.
 */
export function producerSettings(
  options: NixlMetricProducerOptions,
  environment: Environment = process.env,
  file?: WrittenSettings,
): ProducerSettings {
  checkOptions(options, ['temporality', ...COMMON]);
  const { source, ...settings } = resolved(options, environment, file);
  if (source === undefined) throw invalid(NOTHING_CONFIGURED);
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

/** Warns of globs that match no known event, or known events that they do not count. Unknown events may still match. */
export function warnOfUnmatched(
  { events: { unmatched }, customEvents }: Pick<Profile, 'events' | 'customEvents'>,
  logger: Pick<DiagLogger, 'warn'>,
): void {
  if (unmatched.length > 0) logger.warn(`enabledMetrics: no known event matches ${unmatched.join(', ')}`);
  for (const [i, event] of customEvents.entries()) {
    const names = passedOver(event);
    if (names.length === 0) continue;
    logger.warn(
      `customEvents[${i}].event ${event.event} does not count ${names.join(', ')}: they are NIXL's own events`,
    );
  }
}

function resolved(given: NixlInstrumentationConfig, environment: Environment, named?: WrittenSettings): Settings {
  const file = named ?? fileNamedBy(given, environment);
  const options = merged(given, environment, file);
  refuseWithoutBuilder(options, given, file);
  refuseTakenLabels(options, given, file);
  const { seriesLimit = DEFAULT_SERIES_LIMIT, durationBudgetMs = DEFAULT_DURATION_BUDGET_MS } = options;
  const { naming = 'nixl', hostname = os.hostname(), enabledMetrics } = options;
  const { rankVariable = DEFAULT_RANK_VARIABLE } = options;
  const { customEvents = [], builders } = options;
  const declared = customEvents.map((one) => {
    if (isCustomError(one)) return errorName(one);
    return typeof one.event === 'number' ? `type_${one.event}` : one.event;
  });
  const entries = (listed(enabledMetrics) ?? []).flatMap((entry) => entry.split(','));
  const attributes = new AttributeRegistry(options.attributes);
  return {
    naming,
    ...nixlSeriesOf(options),
    hostname,
    seriesLimit,
    durationBudgetMs,
    events: allowlist(entries, declared),
    attributes,
    rankVariable,
    customEvents,
    builders,
    source: sourceOptions(options),
  };
}

/** @throws NixlTelemetryError CONFIG_INVALID, with line and column if the file holds the attributes. */
function refuseTakenLabels(
  options: NixlInstrumentationConfig,
  given: NixlInstrumentationConfig,
  file: WrittenSettings | undefined,
): void {
  const problems = labelProblems(options);
  if (problems.length === 0) return;
  const where = given.attributes === undefined && file !== undefined ? file.where : pathText;
  throw invalid(problems.map(({ path, text }) => `${where(path)} ${text}`).join('\n'));
}

/** Returns options that do nothing unless one of the builders beside them runs. */
function neededBuilders({ customEvents = [] }: NixlOptions): [keyof NixlOptions, BuilderName[]][] {
  return [
    ...(customEvents.some((event) => !isCustomError(event)) ? [neededFor('customEvents', 'custom')] : []),
    ...(customEvents.some(isCustomError) ? [neededFor('customEvents', 'legacy')] : []),
    neededFor('durationBoundsUs', 'legacy', 'transfers', 'events', 'custom'),
    neededFor('histogramBounds', 'legacy', 'transfers'),
    neededFor('sizeBounds', 'transfers'),
    neededFor('throughputBounds', 'transfers'),
  ];
}

function neededFor(option: keyof NixlOptions, ...builders: BuilderName[]): [keyof NixlOptions, BuilderName[]] {
  return [option, builders];
}

/** @throws NixlTelemetryError CONFIG_INVALID, with line and column if the file holds the option. */
function refuseWithoutBuilder(
  options: NixlInstrumentationConfig,
  given: NixlInstrumentationConfig,
  file: WrittenSettings | undefined,
): void {
  const { builders } = options;
  if (builders === undefined) return;
  const names = builders.map((one) => (typeof one === 'string' ? one : one.name));
  for (const [option, needed] of neededBuilders(options)) {
    const value = options[option];
    const isNothing = value === undefined || Object.keys(value).length === 0 || isDefault(option, value);
    // A variable may be meant for the agents.
    const isVariable = given[option] === undefined && file?.written[option] === undefined;
    if (isNothing || isVariable || needed.some((builder) => builders.includes(builder))) continue;
    const what = given[option] === undefined ? file!.where([option]) : option;
    throw invalid(`${what} needs the builder ${needed.join(' or ')}, and builders has only ${names.join(', ')}`);
  }
}

/** `nixl-otel config print` writes defaults, too. */
function isDefault(option: string, value: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(DEFAULT_BOUNDS[option as keyof typeof DEFAULT_BOUNDS]);
}

function fileNamedBy({ configFile }: NixlInstrumentationConfig, environment: Environment): WrittenSettings | undefined {
  const file = configFile ?? environment[CONFIG_VARIABLE];
  return file ? readSettings(file) : undefined;
}

/** Options go before the environment, and that before the file. Whoever names a place to read names all of them. */
function merged(
  options: NixlInstrumentationConfig,
  environment: Environment,
  file: WrittenSettings | undefined,
): NixlInstrumentationConfig {
  const written = file === undefined ? {} : optionsOf(file);
  const layers: NixlInstrumentationConfig[] = [defined(options), optionsFromEnvironment(environment), written];
  const { directories, globs } = layers.find((layer) => layer.directories ?? layer.globs) ?? {};
  const [own, fromEnvironment, rest] = layers.map(({ directories: _, globs: __, ...layer }) => layer);
  return { ...rest, ...fromEnvironment, ...own, ...defined({ directories, globs }) };
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

/** Returns directories and globs as one text, for messages. */
export function placesText({ directories = [], globs = [] }: Pick<SourceOptions, 'directories' | 'globs'>): string {
  return oneLine([...directories, ...globs].join(', '));
}

function listed(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the properties that are undefined: those mean "the default". */
function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
