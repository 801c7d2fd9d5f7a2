/** Instruments of builders on a private MeterProvider, which each producer reads. */
import {
  type AggregationOption,
  type AggregationTemporality,
  type InstrumentType,
  MeterProvider,
  MetricReader,
  type ScopeMetrics,
} from '@opentelemetry/sdk-metrics';
import type { DiagLogger, Meter } from '@opentelemetry/api';
import { nixlLabelRegistry } from '../../mapping/index.js';
import type { RingSource, Snapshot, SourceOptions } from '../../shm-bridge/index.js';
import { AgentAttributes } from '../agents/agent-attributes.js';
import { BuilderRun, type BuilderRunOptions } from './builder-run.js';
import type { Profile } from '../../settings/settings.js';
import { DiagOnce } from '../feed/diag-once.js';
import { EarlierTotals } from '../instruments/totals.js';
import { MetricProcessor } from './metric-processor.js';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../package.js';

/** Selectors of the reader that a producer reports to. */
interface Selectors {
  readonly temporality: (type: InstrumentType) => AggregationTemporality;
  readonly aggregation: (type: InstrumentType) => AggregationOption;
}

/** Collects when its producer is collected. */
class ProducerReader extends MetricReader {
  constructor({ temporality, aggregation }: Selectors) {
    super({ aggregationTemporalitySelector: temporality, aggregationSelector: aggregation });
  }
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export class BuilderMetrics {
  readonly processor: MetricProcessor;
  /** The same for all readers of the source. */
  readonly agentAttributes: AgentAttributes;
  readonly #run: BuilderRun;
  readonly #options: Required<BuilderRunOptions>;
  readonly #readers: Map<object, ProducerReader> = new Map();
  #provider: MeterProvider | undefined;

  /** `before`: predecessor. The builders keep its instruments and producers. */
  constructor(options: BuilderRunOptions, before?: BuilderMetrics) {
    this.#options = { ...options, earlier: before === undefined ? new EarlierTotals() : before.#options.earlier };
    this.processor = options.processor;
    this.agentAttributes = options.agentAttributes;
    this.#run = new BuilderRun(this.#options);
    if (before === undefined) return;
    this.#readers = before.#readers;
    this.#provider = before.#provider;
    if (this.#provider !== undefined) this.#run.useMeter(meterOf(this.#provider));
  }

  static of(profile: Profile, logger: DiagLogger): BuilderMetrics {
    const { attributes, hostname, rankVariable, builders } = profile;
    const nixlLabels = nixlLabelRegistry(profile.nixlLabels);
    const log = new DiagOnce(logger);
    const made = new BuilderMetrics({
      processor: new MetricProcessor({ attributes: attributes.specs, hostname, builders }),
      agentAttributes: new AgentAttributes({ registry: attributes, nixlLabels, hostname, rankVariable, log }),
      log,
    });
    made.processor.onMeterNeeded = () => made.start();
    return made;
  }

  /** Returns the same builders with separate instruments, read by other producers. `before`: as in the constructor. */
  forReaders(before: BuilderMetrics | undefined): BuilderMetrics {
    const { processor, agentAttributes, log } = this.#options;
    return new BuilderMetrics({ processor, agentAttributes, log }, before);
  }

  /** Options that the source must be opened with. */
  get wants(): Pick<SourceOptions, 'eventTap'> {
    return this.processor.takesEvents ? { eventTap: {} } : {};
  }

  /** Adds a producer, before start(): later the SDK's provider takes no reader. `producer`: any object that identifies it. */
  join(producer: object, selectors: Selectors): void {
    if (this.#readers.has(producer)) return;
    if (this.#provider === undefined) {
      this.#readers.set(producer, new ProducerReader(selectors));
      return;
    }
    const message = 'a producer that was constructed after the first collect has no metrics of builders';
    this.#options.log.warn('builders', 'late', message);
  }

  /** Lets builders count from now on. All producers must have joined. Without this call the first collect does it. */
  begin(): void {
    if (this.processor.needsMeter) this.start();
  }

  /** Creates the provider. The first collect or record calls this at the latest. */
  start(): void {
    if (this.#provider !== undefined || this.#readers.size === 0) return;
    this.#provider = new MeterProvider({ readers: [...this.#readers.values()] });
    this.#run.useMeter(meterOf(this.#provider));
  }

  attach(source: RingSource): void {
    this.agentAttributes.watch(source);
    this.#run.attach(source);
  }

  /** Must be called before the source closes. */
  detach(): void {
    this.agentAttributes.unwatch();
    this.#run.detach();
  }

  /** Hands all numbers of the snapshot to the builders. */
  handOver(snapshot: Snapshot): void {
    this.#run.collect(snapshot);
  }

  async collect(producer: object, snapshot: Snapshot): Promise<{ scopeMetrics: ScopeMetrics[]; errors: unknown[] }> {
    const reader = this.#readers.get(producer);
    this.begin();
    if (this.#provider === undefined || reader === undefined) return { scopeMetrics: [], errors: [] };
    this.handOver(snapshot);
    const { resourceMetrics, errors } = await reader.collect();
    return { scopeMetrics: resourceMetrics.scopeMetrics.filter(({ metrics }) => metrics.length > 0), errors };
  }

  leave(producer: object): void {
    void this.#readers.get(producer)?.shutdown();
    this.#readers.delete(producer);
  }

  close(): void {
    this.detach();
    this.processor.close();
  }
}

function meterOf(provider: MeterProvider): Meter {
  return provider.getMeter(`${PACKAGE_NAME}/builders`, PACKAGE_VERSION);
}
