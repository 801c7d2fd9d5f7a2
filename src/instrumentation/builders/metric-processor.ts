/** Runs the builders in their order: built-in ones by name, and custom ones. */
import os from 'node:os';
import { diag, type Meter } from '@opentelemetry/api';
import { check, invalid, listOf, optionsObject } from '../../ground/arguments.js';
import { reasonOf } from '../../ground/errors.js';
import {
  AttributeRegistry,
  type AttributeSpec,
  type Attributes,
  type Metric,
  metricsOf,
  TALLY_BUILDERS,
  type TallyBuilderName,
} from '../../mapping/index.js';
import { PACKAGE_NAME } from '../../ground/package.js';
import { ATTRIBUTE_SPECS } from '../../settings/attribute-shapes.js';
import {
  type AgentEvent,
  BUILDER_NAMES,
  type BuilderName,
  type EventGain,
  type EventRecord,
  type MetricBuilder,
} from '../../settings/metric-builder.js';
import type { Profile } from '../../settings/settings.js';
import { pathText } from '../../settings/shape.js';
import { runBuilderCode } from '../../settings/user-module.js';
import { ComprehensiveBuilder } from './comprehensive-builder.js';
import type { CollectWants } from '../feed/snapshot-feed.js';
import { gpusIn, RecordsBuilder } from './records-builder.js';

const MAX_WAITING = 1024;

const COUNTING_BUILDERS = {
  comprehensive: () => new ComprehensiveBuilder(),
  comprehensive_names: () => new ComprehensiveBuilder(true),
  records: () => new RecordsBuilder(),
} satisfies Record<Exclude<BuilderName, TallyBuilderName>, () => MetricBuilder>;

/** Returns the metrics that builders read from the tally. Several readers must not share them: see metricsOf(). */
export function tallyMetrics({ naming, events, customEvents, builders, nixlRelease: release }: Profile): Metric[] {
  const chosen = builders.filter((one): one is TallyBuilderName => TALLY_BUILDERS.includes(one as never));
  const metrics = metricsOf(naming, { events, customEvents, builders: chosen, release });
  return [...metrics.filter(isInWords), ...metrics.filter((metric) => !isInWords(metric))];
}

/** Returns false for metrics that a page cannot take from the words of agents: histograms that are computed. */
export function isInWords({ needs }: Metric): boolean {
  return needs !== 'sizeClasses';
}

/** Parts of a snapshot beside the usual. */
export type Needs = Required<Pick<CollectWants, 'sizeClasses' | 'timeModels'>>;

export function needsOf(metrics: readonly Metric[]): Needs {
  const needs = new Set(metrics.map((metric) => metric.needs));
  return { sizeClasses: needs.has('sizeClasses'), timeModels: needs.has('timeModels') };
}

export interface MetricProcessorOptions {
  /**
   * Builders in their order. Default: `records`. Builders that read the tally, such as `nixl`, are ignored: producers
   * run those.
   */
  readonly builders?: readonly (BuilderName | MetricBuilder)[];
  /** Attributes of records. Default: none. */
  readonly attributes?: readonly AttributeSpec[];
  /** Default: os.hostname(). */
  readonly hostname?: string;
  /** Called once per builder with its first error. Default: diag.error(). */
  readonly onError?: (builder: string, reason: string) => void;
}

const OPTIONS = ['builders', 'attributes', 'hostname', 'onError'] as const;

export class MetricProcessor {
  readonly #builders: MetricBuilder[];
  readonly #options: MetricProcessorOptions;
  readonly #attributes: AttributeRegistry;
  readonly #reported = new Set<MetricBuilder>();
  readonly #broken = new WeakSet<MetricBuilder>();
  #meter: Meter | undefined;
  /** Records that were made before the first meter. */
  #waiting: EventRecord[] = [];
  /** @internal Called when a record is made before the first meter. */
  onMeterNeeded: (() => void) | undefined;
  /** @internal True while the first meter is being made: it comes soon, so any number of records may wait. */
  isMeterComing = false;

  /** @throws NixlTelemetryError CONFIG_INVALID */
  constructor(options: MetricProcessorOptions = {}) {
    const { builders: chosen = ['records'], attributes } = optionsObject('options', options, OPTIONS);
    const { hostname, onError } = options;
    check(hostname === undefined || typeof hostname === 'string', 'hostname', hostname, 'a text');
    check(onError === undefined || typeof onError === 'function', 'onError', onError, 'a function');
    listOf('builders', chosen, checkBuilder);
    this.#options = options;
    this.#attributes = registryOf(attributes);
    this.#builders = chosen.flatMap((one) => {
      if (typeof one !== 'string') return [one];
      const make = COUNTING_BUILDERS[one as keyof typeof COUNTING_BUILDERS] as (() => MetricBuilder) | undefined;
      return make === undefined ? [] : [make()];
    });
  }

  /** Appends a builder. @throws NixlTelemetryError CONFIG_INVALID */
  addBuilder(builder: MetricBuilder): void {
    check(isBuilder(builder), 'builder', builder, 'an object with name and create()');
    this.#builders.push(builder);
    if (this.#meter !== undefined) this.#create(builder, this.#meter);
  }

  /** @internal False before the first meter: until then events stay queued. */
  get hasMeter(): boolean {
    return this.#meter !== undefined;
  }

  /** @internal True when a builder takes single events. */
  get takesEvents(): boolean {
    return this.#builders.some((builder) => builder.take !== undefined);
  }

  /** @internal True if a builder needs a meter now. Builder `records` needs none before the first record. */
  get needsMeter(): boolean {
    return this.#builders.some((builder) => !(builder instanceof RecordsBuilder));
  }

  /** @internal True when a builder observes gains. */
  get observes(): boolean {
    return this.#builders.some((builder) => builder.observe !== undefined);
  }

  /** Lets all builders count into instruments of this meter from now on. @throws NixlTelemetryError CONFIG_INVALID */
  useMeter(meter: Meter): void {
    const isMeter = typeof (meter as Meter | null | undefined)?.createCounter === 'function';
    check(isMeter, 'meter', meter, 'a Meter of OpenTelemetry');
    if (this.#meter === meter) return;
    this.#meter = meter;
    for (const builder of this.#builders) this.#create(builder, meter);
    for (const record of this.#waiting.splice(0)) this.process(record);
  }

  /**
   * Counts a record of the service. The configured attributes are read from its fields. Up to 1024 records wait for the
   * first meter. Returns false for further ones, for a record that is no object, and if no builder takes records, as with
   * the preset `nixl`.
   */
  process(record: EventRecord): boolean {
    if (typeof record !== 'object' || record === null || !this.#takesRecords) return false;
    if (this.#meter === undefined) this.onMeterNeeded?.();
    if (this.#meter === undefined) {
      return (this.isMeterComing || this.#waiting.length < MAX_WAITING) && this.#waiting.push(record) > 0;
    }
    const attributes = this.#attributesOf(record);
    this.#each('process', (builder) => builder.process?.(record, attributes));
    return true;
  }

  /** @internal */
  take(events: readonly AgentEvent[]): void {
    this.#each('take', (builder) => builder.take?.(events));
  }

  /** @internal */
  observe(gains: readonly EventGain[]): void {
    this.#each('observe', (builder) => builder.observe?.(gains));
  }

  /** Closes all builders, except those that `successor` also runs. */
  close(successor?: MetricProcessor): void {
    const isRight = successor === undefined || successor instanceof MetricProcessor;
    check(isRight, 'successor', successor, 'a MetricProcessor');
    const kept = successor === undefined ? [] : successor.#builders;
    this.#each('close', (builder) => (kept.includes(builder) ? undefined : builder.close?.()));
  }

  get #takesRecords(): boolean {
    return this.#builders.some((builder) => builder.process !== undefined);
  }

  #attributesOf(record: EventRecord): Attributes {
    const { hostname = os.hostname() } = this.#options;
    return this.#attributes.resolve({ hostname, environment: process.env, record, gpus: gpusIn(record) });
  }

  #create(builder: MetricBuilder, meter: Meter): void {
    this.#broken.delete(builder);
    this.#guarded(builder, 'create', () => builder.create(meter));
  }

  #each(call: string, use: (builder: MetricBuilder) => unknown): void {
    if (this.#meter === undefined) return;
    for (const builder of this.#builders) {
      if (!this.#broken.has(builder)) this.#guarded(builder, call, () => use(builder));
    }
  }

  /** Catches rejections, too: the rejection of an asynchronous method would end the process. */
  #guarded(builder: MetricBuilder, call: string, work: () => unknown): void {
    const failed = (error: unknown): void => {
      if (call === 'create') this.#broken.add(builder);
      this.#report(builder, call, error);
    };
    try {
      Promise.resolve(runBuilderCode(builder, work)).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  #report(builder: MetricBuilder, call: string, error: unknown): void {
    if (this.#reported.has(builder)) return;
    this.#reported.add(builder);
    const { onError = reportToDiag } = this.#options;
    const reason = `${call}() failed: ${reasonOf(error)}`;
    try {
      onError(builder.name, reason);
    } catch {
      reportToDiag(builder.name, reason);
    }
  }
}

function isBuilder(given: unknown): given is MetricBuilder {
  const { name, create } = (given ?? {}) as Partial<MetricBuilder>;
  return typeof name === 'string' && typeof create === 'function';
}

function checkBuilder(name: string, given: BuilderName | MetricBuilder): void {
  const isRight = isBuilder(given) || BUILDER_NAMES.includes(given);
  check(isRight, name, given, `${BUILDER_NAMES.join(', ')}, or an object with name and create()`);
}

function registryOf(specs: readonly AttributeSpec[] = []): AttributeRegistry {
  const [problem] = ATTRIBUTE_SPECS.problems(specs, ['attributes']);
  if (problem !== undefined) throw invalid(`${pathText(problem.path)} ${problem.text}`);
  return new AttributeRegistry(specs);
}

function reportToDiag(builder: string, reason: string): void {
  const logger = diag.createComponentLogger({ namespace: PACKAGE_NAME });
  logger.error(`builder ${builder}: ${reason}; the other builders continue`);
}
