/** Instruments of builders on a private MeterProvider, which each producer reads. */
import type { DiagLogger, Meter } from '@opentelemetry/api';
import type { ScopeMetrics } from '@opentelemetry/sdk-metrics';
import { EngineTable } from '../../engines/identify.js';
import { nixlLabelRegistry } from '../../mapping/index.js';
import type { RingSource, Snapshot, SourceOptions } from '../../shm-bridge/index.js';
import { AgentAttributes } from '../agents/agent-attributes.js';
import type { Selectors } from './builder-provider.js';
import { BuilderReaders } from './builder-readers.js';
import { BuilderRun, type BuilderRunOptions } from './builder-run.js';
import type { Profile } from '../../settings/settings.js';
import { DiagOnce } from '../feed/diag-once.js';
import { EarlierTotals } from '../instruments/totals.js';
import { MetricProcessor } from './metric-processor.js';

const SUBJECT = 'builders';

export class BuilderMetrics {
  readonly processor: MetricProcessor;
  /** The same for all readers of the source. */
  readonly agentAttributes: AgentAttributes;
  readonly #run: BuilderRun;
  readonly #options: Required<BuilderRunOptions>;
  readonly #readers: BuilderReaders;
  /** Settles when the builders have a meter, or when none can be made. */
  #starting: Promise<void> | undefined;
  #hasMeter = false;
  /** True after close(), and for a predecessor: its builders must not be created any more. */
  #isOver = false;

  /** `before`: predecessor. The builders keep its instruments and producers. */
  constructor(options: BuilderRunOptions, before?: BuilderMetrics) {
    this.#options = { ...options, earlier: before === undefined ? new EarlierTotals() : before.#options.earlier };
    this.processor = options.processor;
    this.agentAttributes = options.agentAttributes;
    this.#run = new BuilderRun(this.#options);
    this.#readers = before === undefined ? new BuilderReaders() : before.#readers;
    if (before === undefined) return;
    before.#isOver = true;
    if (this.#readers.meter !== undefined) this.#useMeter(this.#readers.meter);
    else if (before.#starting !== undefined) this.start();
  }

  static of(profile: Profile, logger: DiagLogger): BuilderMetrics {
    const { attributes, hostname, rankVariable, builders } = profile;
    const nixlLabels = nixlLabelRegistry(profile.nixlLabels);
    const log = new DiagOnce(logger);
    const made = new BuilderMetrics({
      processor: new MetricProcessor({ attributes: attributes.specs, hostname, builders }),
      agentAttributes: new AgentAttributes({
        ...{ registry: attributes, nixlLabels, hostname, rankVariable, log },
        engines: new EngineTable(profile.engines),
        containerLogs: profile.containerLogs,
      }),
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

  /** True once the builders take the snapshots of each collect. */
  get hasMeter(): boolean {
    return this.#hasMeter;
  }

  /** Options that the source must be opened with. */
  get wants(): Pick<SourceOptions, 'eventTap'> {
    return this.processor.takesEvents ? { eventTap: {} } : {};
  }

  /** Adds a producer, before start(): later the SDK's provider takes no reader. `producer`: any object that identifies it. */
  join(producer: object, selectors: Selectors): void {
    if (this.#readers.join(producer, selectors)) return;
    const message = 'a producer that was constructed after the first collect has no metrics of builders';
    this.#options.log.warn(SUBJECT, 'late', message);
  }

  /**
   * Lets builders count from now on. All producers must have joined. Without this call the first collect does it. Resolves when
   * the builders have a meter, if they need one.
   */
  async begin(): Promise<void> {
    if (this.processor.needsMeter) this.start();
    await this.#starting;
  }

  /** Makes a meter, once the SDK is loaded. The first collect or record calls this at the latest. */
  start(): void {
    if (this.#hasMeter || this.#starting !== undefined) return;
    const meter = this.#readers.start();
    if (meter !== undefined) this.#starting = this.#useWhenMade(meter);
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

  /** Hands all numbers of the snapshot to the builders, if they have a meter. */
  handOver(snapshot: Snapshot): void {
    if (this.#hasMeter) this.#run.collect(snapshot);
  }

  async collect(producer: object, snapshot: Snapshot): Promise<{ scopeMetrics: ScopeMetrics[]; errors: unknown[] }> {
    void this.begin();
    if (!this.#hasMeter) await this.#starting;
    const reader = this.#readers.of(producer);
    if (reader === undefined) return { scopeMetrics: [], errors: [] };
    this.handOver(snapshot);
    const { resourceMetrics, errors } = await reader.collect();
    return { scopeMetrics: resourceMetrics.scopeMetrics.filter(({ metrics }) => metrics.length > 0), errors };
  }

  leave(producer: object): void {
    this.#readers.leave(producer);
  }

  close(): void {
    this.#isOver = true;
    this.detach();
    this.processor.close();
  }

  async #useWhenMade(meter: Promise<Meter>): Promise<void> {
    const { processor } = this;
    processor.isMeterComing = true;
    try {
      this.#useMeter(await meter);
    } catch (error) {
      this.#options.log.failure(SUBJECT, 'builders: meter', error);
    }
    processor.isMeterComing = false;
  }

  #useMeter(meter: Meter): void {
    if (this.#isOver) return;
    this.#hasMeter = true;
    this.#run.useMeter(meter);
  }
}
