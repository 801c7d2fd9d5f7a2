/** Runs the builders: built-in ones by name, and anyone's own, in their order. */
import os from 'node:os';
import { diag, type Meter } from '@opentelemetry/api';
import { check, invalid, listOf, optionsObject } from '../../arguments.js';
import { reasonOf } from '../../errors.js';
import {
  AttributeRegistry,
  type AttributeSpec,
  type Attributes,
  DEFAULT_BUILDERS,
  TALLY_BUILDERS,
  type TallyBuilderName,
} from '../../mapping/index.js';
import { ATTRIBUTES } from '../../settings/attribute-shapes.js';
import { pathText } from '../../settings/shape.js';
import { checkedMeter } from './checked-meter.js';
import { ComprehensiveBuilder } from './comprehensive-builder.js';
import {
  type AgentEvent,
  BUILDER_NAMES,
  type BuilderName,
  type EventGain,
  type EventRecord,
  type MetricBuilder,
} from '../../settings/metric-builder.js';
import { PACKAGE_NAME } from '../version.js';
import { runBuilderCode } from '../../settings/user-module.js';
import { gpusIn, RecordsBuilder } from './records-builder.js';

const MAX_WAITING = 1024;

const COUNTING_BUILDERS = {
  comprehensive: () => new ComprehensiveBuilder(),
  comprehensive_names: () => new ComprehensiveBuilder({ inNames: true }),
  records: () => new RecordsBuilder(),
} satisfies Record<Exclude<BuilderName, TallyBuilderName>, () => MetricBuilder>;

/** Those that are metrics read off the tally. */
export function tallyBuilders(
  chosen: readonly (BuilderName | MetricBuilder)[] = DEFAULT_BUILDERS,
): readonly TallyBuilderName[] {
  return chosen.filter((one): one is TallyBuilderName => TALLY_BUILDERS.includes(one as never));
}

export interface MetricProcessorOptions {
  /**
   * Only these, in this order. Names of metrics that are read off the tally, as `nixl`, are passed over: producers have
   * those. Default: `records`.
   */
  readonly builders?: readonly (BuilderName | MetricBuilder)[];
  /** Of records. Default: none. */
  readonly attributes?: AttributeRegistry | readonly AttributeSpec[];
  /** Default: os.hostname(). */
  readonly hostname?: string;
  /** Called when a record comes and there is no meter yet. */
  readonly onMeterNeeded?: () => void;
  /** Called once per builder with what it threw. Default: diag.error(). */
  readonly onError?: (builder: string, reason: string) => void;
}

const OPTIONS = ['builders', 'attributes', 'hostname', 'onMeterNeeded', 'onError'] as const;

export class MetricProcessor {
  readonly #builders: MetricBuilder[];
  readonly #options: MetricProcessorOptions;
  readonly #attributes: AttributeRegistry;
  readonly #reported = new Set<MetricBuilder>();
  readonly #broken = new WeakSet<MetricBuilder>();
  #meter: Meter | undefined;
  /** Records from before there was a meter. */
  #waiting: EventRecord[] = [];

  /** @throws NixlTelemetryError CONFIG_INVALID */
  constructor(options: MetricProcessorOptions = {}) {
    const { builders: chosen = ['records'], attributes } = optionsObject('options', options, OPTIONS);
    const { hostname, onMeterNeeded, onError } = options;
    check(hostname === undefined || typeof hostname === 'string', 'hostname', hostname, 'a text');
    for (const [name, given] of Object.entries({ onMeterNeeded, onError })) {
      check(given === undefined || typeof given === 'function', name, given, 'a function');
    }
    listOf('builders', chosen, checkBuilder);
    this.#options = options;
    this.#attributes = attributes instanceof AttributeRegistry ? attributes : registryOf(attributes);
    this.#builders = chosen.flatMap((one) => {
      if (typeof one !== 'string') return [one];
      const make = COUNTING_BUILDERS[one as keyof typeof COUNTING_BUILDERS] as (() => MetricBuilder) | undefined;
      return make === undefined ? [] : [make()];
    });
  }

  /**
   * One more, behind the others.
   * @throws NixlTelemetryError CONFIG_INVALID
   */
  addBuilder(builder: MetricBuilder): void {
    check(isBuilder(builder), 'builder', builder, 'an object with name and create()');
    this.#builders.push(builder);
    if (this.#meter !== undefined) this.#create(builder, this.#meter);
  }

  /** Until then events stay where they are. */
  get hasMeter(): boolean {
    return this.#meter !== undefined;
  }

  /** Whether any builder wants to have every event. */
  get takesEvents(): boolean {
    return this.#builders.some((builder) => builder.take !== undefined);
  }

  /** Records alone need one only once there is a record. */
  get needsMeter(): boolean {
    return this.#builders.some((builder) => !(builder instanceof RecordsBuilder));
  }

  get observes(): boolean {
    return this.#builders.some((builder) => builder.observe !== undefined);
  }

  /**
   * From now on all builders count into instruments of this meter.
   * @throws NixlTelemetryError CONFIG_INVALID
   */
  useMeter(meter: Meter): void {
    checkedMeter(meter);
    if (this.#meter === meter) return;
    this.#meter = meter;
    for (const builder of this.#builders) this.#create(builder, meter);
    for (const record of this.#waiting.splice(0)) this.process(record);
  }

  /**
   * Counts a record that the service makes itself: the configured attributes come from its fields. Up to 1024 records wait
   * for the first meter. False when it is no object, or one too many.
   */
  process(record: EventRecord): boolean {
    if (typeof record !== 'object' || record === null) return false;
    if (this.#meter === undefined) this.#options.onMeterNeeded?.();
    if (this.#meter === undefined) return this.#waiting.length < MAX_WAITING && this.#waiting.push(record) > 0;
    const attributes = this.#attributesOf(record);
    this.#each('process', (builder) => builder.process?.(record, attributes));
    return true;
  }

  take(events: readonly AgentEvent[]): void {
    this.#each('take', (builder) => builder.take?.(events));
  }

  observe(gains: readonly EventGain[]): void {
    this.#each('observe', (builder) => builder.observe?.(gains));
  }

  /** All but those that `successor` runs, too: they go on. */
  close(successor?: MetricProcessor): void {
    const isRight = successor === undefined || successor instanceof MetricProcessor;
    check(isRight, 'successor', successor, 'a MetricProcessor');
    const kept = successor === undefined ? [] : successor.#builders;
    this.#each('close', (builder) => (kept.includes(builder) ? undefined : builder.close?.()));
  }

  #attributesOf(record: EventRecord): Attributes {
    const { hostname = os.hostname() } = this.#options;
    const gpus = gpusIn(record);
    return this.#attributes.resolve({
      hostname,
      environment: process.env,
      record,
      ...(gpus === undefined ? {} : { gpus }),
    });
  }

  #create(builder: MetricBuilder, meter: Meter): void {
    this.#broken.delete(builder);
    this.#guarded(
      builder,
      'create',
      () => builder.create(meter),
      () => this.#broken.add(builder),
    );
  }

  #each(call: string, use: (builder: MetricBuilder) => unknown): void {
    if (this.#meter === undefined) return;
    for (const builder of this.#builders) {
      if (!this.#broken.has(builder)) this.#guarded(builder, call, () => use(builder));
    }
  }

  /** An asynchronous method is easily written, and its rejection would end the process. Nobody waits for it. */
  #guarded(builder: MetricBuilder, call: string, work: () => unknown, onFailure?: () => void): void {
    const failed = (error: unknown): void => {
      onFailure?.();
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
  const [problem] = ATTRIBUTES.problems(specs, ['attributes']);
  if (problem !== undefined) throw invalid(`${pathText(problem.path)} ${problem.text}`);
  return new AttributeRegistry(specs);
}

function reportToDiag(builder: string, reason: string): void {
  const logger = diag.createComponentLogger({ namespace: PACKAGE_NAME });
  logger.error(`builder ${builder}: ${reason}; it is passed over where it throws`);
}
