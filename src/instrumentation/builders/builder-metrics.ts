/** The instruments of builders where no MeterProvider is at hand: a provider of their own, read by each producer. */
import type { AggregationTemporality } from '@opentelemetry/sdk-metrics';
import { type InstrumentType, MeterProvider, MetricReader, type ScopeMetrics } from '@opentelemetry/sdk-metrics';
import type { DiagLogger, Meter } from '@opentelemetry/api';
import { nixlLabelRegistry } from '../../mapping/index.js';
import type { RingSource } from '../../shm-bridge/index.js';
import type { Snapshot, SourceOptions } from '../../shm-bridge/types.js';
import { AgentAttributes } from '../agents/agent-attributes.js';
import { BuilderRun, type BuilderRunOptions } from './builder-run.js';
import type { Profile } from '../../settings/settings.js';
import { DiagOnce } from '../diag-once.js';
import { EarlierTotals } from '../earlier-totals.js';
import { MetricProcessor } from './metric-processor.js';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../version.js';

type TemporalityOf = (type: InstrumentType) => AggregationTemporality;

/** Reads when a producer is read. */
class ProducerReader extends MetricReader {
  constructor(aggregationTemporalitySelector: TemporalityOf) {
    super({ aggregationTemporalitySelector });
  }
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export class BuilderMetrics {
  readonly #run: BuilderRun;
  readonly #options: Required<BuilderRunOptions>;
  readonly #readers: Map<object, ProducerReader> = new Map();
  #provider: MeterProvider | undefined;

  /** `before`: what these take the place of. Their builders count on in its instruments, for its producers. */
  constructor(options: BuilderRunOptions, before?: BuilderMetrics) {
    this.#options = { ...options, earlier: before === undefined ? new EarlierTotals() : before.#options.earlier };
    this.#run = new BuilderRun(this.#options);
    if (before === undefined) return;
    this.#readers = before.#readers;
    this.#provider = before.#provider;
    if (this.#provider !== undefined) this.#run.useMeter(meterOf(this.#provider));
  }

  static of(profile: Profile, logger: DiagLogger): BuilderMetrics {
    const { attributes, hostname, rankVariable, builders } = profile;
    const nixlLabels = nixlLabelRegistry(profile.nixlLabels);
    const made: BuilderMetrics = new BuilderMetrics({
      processor: new MetricProcessor({
        attributes,
        hostname,
        onMeterNeeded: () => made.start(),
        ...(builders === undefined ? {} : { builders }),
      }),
      agentAttributes: new AgentAttributes({ registry: attributes, nixlLabels, hostname, rankVariable }),
      said: new DiagOnce(logger),
    });
    return made;
  }

  /** The same builders in instruments of their own, read by other producers. `before`: as in the constructor. */
  forReaders(before: BuilderMetrics | undefined): BuilderMetrics {
    const { processor, agentAttributes, said } = this.#options;
    return new BuilderMetrics({ processor, agentAttributes, said }, before);
  }

  /** One for all who read the source. */
  get agentAttributes(): AgentAttributes {
    return this.#options.agentAttributes;
  }

  get processor(): MetricProcessor {
    return this.#options.processor;
  }

  /** What a source must be opened with. */
  get wants(): Pick<SourceOptions, 'eventTap'> {
    return this.processor.takesEvents ? { eventTap: {} } : {};
  }

  /** Before start(): the SDK's provider takes no further readers. `producer`: the object that stands for it. */
  join(producer: object, temporalityOf: TemporalityOf): void {
    if (this.#readers.has(producer)) return;
    if (this.#provider === undefined) {
      this.#readers.set(producer, new ProducerReader(temporalityOf));
      return;
    }
    this.#options.said.warn(
      'builders',
      'late',
      'a producer that came after the first collect has no metrics of builders',
    );
  }

  /** When all producers are there: from now on builders count. Without it, the first collect does it. */
  begin(): void {
    if (this.processor.needsMeter) this.start();
  }

  /** At the first collect or record, at the latest. */
  start(): void {
    if (this.#provider !== undefined || this.#readers.size === 0) return;
    this.#provider = new MeterProvider({ readers: [...this.#readers.values()] });
    this.#run.useMeter(meterOf(this.#provider));
  }

  attach(source: RingSource): void {
    this.agentAttributes.watch(source);
    this.#run.attach(source);
  }

  /** Before the source is closed. */
  detach(): void {
    this.agentAttributes.unwatch();
    this.#run.detach();
  }

  /** Builders get all that the snapshot holds. */
  takeIn(snapshot: Snapshot): void {
    this.#run.collect(snapshot);
  }

  async collect(producer: object, snapshot: Snapshot): Promise<{ scopeMetrics: ScopeMetrics[]; errors: unknown[] }> {
    const reader = this.#readers.get(producer);
    this.begin();
    if (this.#provider === undefined || reader === undefined) return { scopeMetrics: [], errors: [] };
    this.takeIn(snapshot);
    const { resourceMetrics, errors } = await reader.collect();
    return { scopeMetrics: resourceMetrics.scopeMetrics.filter(({ metrics }) => metrics.length > 0), errors };
  }

  leave(producer: object): void {
    void this.#readers.get(producer)?.shutdown();
    this.#readers.delete(producer);
  }

  close(): void {
    this.detach();
    this.#options.processor.close();
  }
}

function meterOf(provider: MeterProvider): Meter {
  return provider.getMeter(`${PACKAGE_NAME}/builders`, PACKAGE_VERSION);
}
