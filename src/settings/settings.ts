/** Settings of the producer and the instrumentation, made of resolved options. */
import path from 'node:path';
import type { DiagLogger } from '@opentelemetry/api';
import { invalid, shown } from '../ground/arguments.js';
import {
  type Allowlist,
  allowlist,
  AttributeRegistry,
  attributeSpecs,
  type Bounds,
  type CustomEvent,
  DEFAULT_NIXL_LABELS,
  DEFAULT_NIXL_RELEASE,
  errorName,
  hasErrors,
  isCustomError,
  PRESETS,
  takenNixlLabel,
  tallyOptions,
} from '../mapping/index.js';
import type { SourceOptions } from '../shm-bridge/types.js';
import { buildersOf, type WrittenSettings } from './file.js';
import type { HistogramKind } from './histograms.js';
import type { BuilderName, MetricBuilder } from './metric-builder.js';
import { OPTION_ROWS } from './option-rows.js';
import type { NixlInstrumentationConfig, NixlMetricProducerOptions } from './options.js';
import { passedOver } from './reserved-names.js';
import { isVariable, namedFile, resolve, resolveRow } from './resolve.js';
import { withNixlConfig } from './nixl-config.js';
import { type Environment, isDefault, type OptionRow, type OptionRows, type Part, type Resolution } from './row.js';
import { SERVE_ROWS } from './serve-rows.js';
import { type Path, pathText } from './shape.js';

type Config = Required<Omit<NixlInstrumentationConfig, 'configFile'>>;
type Defaulted = {
  [K in keyof Config]: (typeof OPTION_ROWS)[K] extends { default: unknown } ? K : never;
}[keyof Config];
type Options = Readonly<Pick<Config, Defaulted> & Partial<Omit<Config, Defaulted>>>;

type PassedTo<P extends Part> = {
  [K in keyof Config]: (typeof OPTION_ROWS)[K] extends { passedTo: P } ? K : never;
}[keyof Config];

/** Choice of exported metrics, names and attributes, shared by all readers of one source. */
export interface Profile extends Pick<Options, PassedTo<'profile'>> {
  readonly builders: readonly (BuilderName | MetricBuilder)[];
  /** False if the package exports no metrics about itself: of the collector, of exporters, of sampled durations. */
  readonly hasOwnMetrics: boolean;
  readonly events: Allowlist;
  readonly attributes: AttributeRegistry;
  readonly customEvents: readonly CustomEvent[];
}

/** Options after validation, with defaults. */
export interface Settings extends Profile, Pick<Options, PassedTo<'instruments'>> {
  /** Undefined if no setting names a place of rings. */
  readonly source: SourceOptions | undefined;
}

export interface ProducerSettings extends Settings {
  readonly source: SourceOptions;
}

export const NOTHING_CONFIGURED =
  'no rings to read: set the option "directories" (or "globs"), or the environment variable NIXL_TELEMETRY_DIR';

/** @throws NixlTelemetryError CONFIG_INVALID */
export function instrumentationSettings(options: NixlInstrumentationConfig): Settings {
  checkOptions(options, optionsFor('instrumentation'));
  return resolvedSettings(options, withNixlConfig(process.env));
}

/**
 * `file`: a configuration file that was read already.
 * @throws NixlTelemetryError CONFIG_INVALID, also if no setting names a place of rings.
 */
export function producerSettings(
  options: NixlMetricProducerOptions,
  environment: Environment = withNixlConfig(process.env),
  file?: WrittenSettings,
): ProducerSettings {
  checkOptions(options, optionsFor('producer'));
  return withSource(resolvedSettings(options, environment, file));
}

/** @throws NixlTelemetryError CONFIG_INVALID */
export function withSource({ source, ...settings }: Settings): ProducerSettings {
  if (source === undefined) throw invalid(NOTHING_CONFIGURED);
  return { ...settings, source };
}

/** Options of `instrumentation.metricProducer()`, which uses the source of the instrumentation. */
export type SharedProducerOptions = Pick<
  NixlMetricProducerOptions,
  'temporality' | 'histograms' | 'naming' | 'hostname'
>;
const READER_OPTIONS: readonly (keyof SharedProducerOptions)[] = ['temporality', 'histograms', 'naming', 'hostname'];

/** @throws NixlTelemetryError CONFIG_INVALID */
export function checkReaderOptions(options: object): void {
  checkOptions(options, READER_OPTIONS);
}

/**
 * Returns the histograms of OTLP exporters that select no aggregation, as OpenTelemetry's variable sets them.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function otlpHistograms(environment: Environment = process.env): HistogramKind {
  return resolveRow(SERVE_ROWS, 'histograms', { givenBy: 'option', environment })!.value as HistogramKind;
}

/** Compares settings. Custom builders are equal only if they are the same object. */
export function sameSettings(a: Settings, b: Settings): boolean {
  const [{ builders: before, ...restBefore }, { builders: after, ...restAfter }] = [a, b];
  const sameBuilders = before.length === after.length && before.every((one, i) => one === after[i]);
  return sameBuilders && JSON.stringify(restBefore) === JSON.stringify(restAfter);
}

function optionsFor(constructor: 'instrumentation' | 'producer'): string[] {
  return Object.entries<OptionRow>(OPTION_ROWS).flatMap(([name, { only = constructor }]) =>
    only === constructor ? [name] : [],
  );
}

/** @throws NixlTelemetryError CONFIG_INVALID, naming each wrong option, its value and what is allowed. */
function checkOptions(options: unknown, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid(`options must be an object, not ${shown(options)}`);
  }
  const wrong = Object.entries(options).flatMap(([name, given]) => {
    if (!names.includes(name)) return [`unknown option ${JSON.stringify(name)}; there are ${names.join(', ')}`];
    const problems = given === undefined ? [] : (OPTION_ROWS as OptionRows)[name]!.shape.problems(given, [name]);
    return problems.map(({ path, text }) => `${pathText(path)} ${text}`);
  });
  if (wrong.length > 0) throw invalid(wrong.join('\n'));
}

function resolvedSettings(given: object, environment: Environment, named?: WrittenSettings): Settings {
  const layers = { given: given as Record<string, unknown>, givenBy: 'option', environment } as const;
  const file = named ?? namedFile(layers);
  return settingsFrom(resolve(OPTION_ROWS, { ...layers, file }), file);
}

/**
 * Loads the builders that the file names, and checks options against each other.
 * @throws NixlTelemetryError CONFIG_INVALID, with the place in the file for an option from there.
 */
export function settingsFrom(resolved: Resolution, file: WrittenSettings | undefined): Settings {
  const values = Object.fromEntries([...resolved].map(([key, { value }]) => [key, value])) as unknown as Options;
  const where = (at: Path): string =>
    resolved.get(at[0] as string)!.origin === 'file' ? file!.where(at) : pathText(at);
  refuseTwoChoices(resolved, where);
  const options = resolved.get('builders')?.origin === 'file' ? { ...values, builders: buildersOf(file!)! } : values;
  const { builders, hasOwnMetrics, bounds } = seriesOf(options);
  refuseWithoutBuilder(options, builders, resolved, where, file);
  refuseTakenLabels(options, where);
  const { customEvents = [], enabledMetrics = [], attributes } = options;
  const declared = customEvents.map((one) => {
    if (isCustomError(one)) return errorName(one);
    return typeof one.event === 'number' ? `type_${one.event}` : one.event;
  });
  const entries = [enabledMetrics].flat().flatMap((entry) => entry.split(','));
  return {
    ...passedTo(options, 'profile'),
    ...passedTo(options, 'instruments'),
    builders,
    hasOwnMetrics,
    events: allowlist(entries, declared),
    attributes: new AttributeRegistry(attributeSpecs(attributes)),
    customEvents,
    source: sourceOptions({ ...bounds, ...options }, resolved),
  };
}

/** Refuses a preset beside a list of builders: each of them chooses all metrics. */
function refuseTwoChoices(resolved: Resolution, where: (at: Path) => string): void {
  const series = resolved.get('series');
  if (series === undefined || !resolved.has('builders')) return;
  throw invalid(
    `${where(['series'])} is ${shown(series.value)}, but ${where(['builders'])} is set as well, and each of them chooses all metrics: set only one of the two`,
  );
}

interface Series extends Pick<Profile, 'builders' | 'hasOwnMetrics'> {
  readonly bounds: Partial<Bounds>;
}

/** Returns the builders and bounds of the preset. A list of builders has the bounds of the preset full. */
function seriesOf({ builders, series }: Options): Series {
  if (builders !== undefined) return { builders, hasOwnMetrics: true, bounds: PRESETS.full.bounds };
  const { hasOwnMetrics, bounds, builders: ofTally } = PRESETS[series];
  return { builders: hasOwnMetrics ? [...ofTally, 'records'] : ofTally, hasOwnMetrics, bounds };
}

function sourceOptions(options: Options, resolved: Resolution): SourceOptions | undefined {
  if (options.directories === undefined && options.globs === undefined) return undefined;
  const source = { ...passedTo(options, 'source'), tally: tallyOptions(passedTo(options, 'tally')) } as SourceOptions;
  // A path in a flag is relative to the working directory. In other settings a relative path causes a warning.
  if (resolved.get('directories')?.origin !== 'flag') return source;
  return { ...source, directories: source.directories!.map((one) => path.resolve(one)) };
}

/** Refuses attributes with the name of a label: a series cannot have a label twice. */
function refuseTakenLabels({ naming, nixlLabels, attributes = [] }: Options, where: (at: Path) => string): void {
  if (naming === 'otel') return;
  const problems = attributes.flatMap((one, i) => {
    if (typeof one === 'string') return []; // the names of a set are no labels of NIXL
    const { name } = one;
    const label = takenNixlLabel(nixlLabels, name);
    if (label === undefined) return [];
    const text = `is ${name}, but nixlLabels is ${nixlLabels}, which has the label ${label}: give the attribute another name, or set nixlLabels to prometheus`;
    return [`${where(['attributes', i, 'name'])} ${text}`];
  });
  if (problems.length > 0) throw invalid(problems.join('\n'));
}

/** Refuses options without effect because none of the builders that use them runs. */
function refuseWithoutBuilder(
  { customEvents = [], series }: Options,
  builders: Profile['builders'],
  resolved: Resolution,
  where: (at: Path) => string,
  file: WrittenSettings | undefined,
): void {
  const needs: { option: string; usedBy?: readonly BuilderName[] }[] = [
    ...(customEvents.every(isCustomError) ? [] : [{ option: 'customEvents', usedBy: ['custom' as const] }]),
    ...(customEvents.some(isCustomError) ? [{ option: 'customEvents', usedBy: ['nixl' as const] }] : []),
    ...Object.entries<OptionRow>(OPTION_ROWS).map(([option, row]) => ({ option, ...row })),
  ];
  const names = builders.map((one) => (typeof one === 'string' ? one : one.name)).join(', ');
  const chosen = resolved.has('builders') ? 'builders has' : `series ${series} has`;
  for (const { option, usedBy } of needs) {
    if (usedBy === undefined) continue;
    const { value, origin } = resolved.get(option) ?? { value: {}, origin: 'default' };
    // A default is no mistake, because `config print` writes defaults. A variable may be meant for the agents.
    const isNothing =
      Object.keys(value as object).length === 0 || isDefault((OPTION_ROWS as OptionRows)[option]!, value);
    const isFromVariable = isVariable({ value, origin }) && file?.written[option] === undefined;
    if (isNothing || isFromVariable || usedBy.some((builder) => builders.includes(builder))) continue;
    throw invalid(`${where([option])} needs the builder ${usedBy.join(' or ')}, and ${chosen} only ${names}`);
  }
}

/** Warns of settings without effect: globs that match nothing, and choices of NIXL's series that no series has. */
export function warnOfNoEffect(profile: Profile, logger: Pick<DiagLogger, 'warn'>): void {
  for (const warning of [...globWarnings(profile), ...seriesWarnings(profile)]) logger.warn(warning);
}

/** Returns warnings, not errors: unknown events may match a glob that matches no known event. */
function globWarnings({ events: { unmatched }, customEvents }: Profile): string[] {
  return [
    ...(unmatched.length > 0 ? [`enabledMetrics: no known event matches ${unmatched.join(', ')}`] : []),
    ...customEvents.flatMap((event, i) => {
      const names = passedOver(event).join(', ');
      if (names === '') return [];
      return [`customEvents[${i}].event ${event.event} does not count ${names}: they are NIXL's own events`];
    }),
  ];
}

function seriesWarnings({ naming, nixlRelease, nixlLabels, customEvents, builders }: Profile): string[] {
  const unusual = [
    ...(nixlRelease === DEFAULT_NIXL_RELEASE ? [] : [`nixlRelease ${nixlRelease}`]),
    ...(nixlLabels === DEFAULT_NIXL_LABELS ? [] : [`nixlLabels ${nixlLabels}`]),
  ];
  if (naming === 'otel') return unusual.map((one) => `${one} has no effect in naming otel`);
  if (!builders.includes('nixl')) return unusual.map((one) => `${one} has no effect without the builder nixl`);
  const errors = customEvents.filter(isCustomError).map(({ status }) => status);
  if (errors.length === 0 || hasErrors(nixlRelease)) return [];
  const isCounted = builders.includes('events') || builders.includes('categories');
  const where = isCounted ? 'are counted in nixl.events only' : 'are counted nowhere';
  return [`customEvents: errors ${errors.join(', ')} ${where}: nixlRelease ${nixlRelease} has no agent_errors_total`];
}

function passedTo<P extends Part>(options: Options, part: P): Pick<Options, PassedTo<P>> {
  const passed = Object.entries(options).filter(([key]) => (OPTION_ROWS as OptionRows)[key]?.passedTo === part);
  return Object.fromEntries(passed) as Pick<Options, PassedTo<P>>;
}
