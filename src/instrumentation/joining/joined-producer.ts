/** Producer that the instrumentation adds to a MetricReader: honours the reader's selectors, and leaves out the rings that others report. */
import { METRIC_NIXL_RECORDS } from '../../mapping/index.js';
import type { CollectionResult, InstrumentType, MetricData, MetricProducer } from '@opentelemetry/sdk-metrics';
import type { BuilderMetrics } from '../builders/builder-metrics.js';
import type { Profile } from '../../settings/settings.js';
import type { DiagOnce } from '../diag-once.js';
import { NixlMetricProducer } from '../metric-producer.js';
import type { SnapshotFeed } from '../snapshot-feed.js';
import { PACKAGE_NAME } from '../version.js';
import { droppedKinds, kindOf } from './aggregations.js';
import { JoinedFeed } from './joined-feed.js';
import type { ReaderMemory } from './reader-memory.js';
import { RING_REPORTER, type RingReporter, THIS_COPY } from './ring-reporter.js';
import { addProducer, removeProducer, type SdkReader } from './sdk-provider.js';

export interface JoinedProducerOptions {
  readonly reader: SdkReader;
  readonly memory: ReaderMemory;
  readonly profile: Profile;
  readonly feed: SnapshotFeed;
  readonly builderMetrics: BuilderMetrics;
  /** Name of the instrumentation, for messages. */
  readonly name: string;
  readonly places: string;
  readonly said: DiagOnce;
}

export class JoinedProducer implements MetricProducer {
  readonly [RING_REPORTER]: RingReporter;
  readonly #reader: SdkReader;
  readonly #feed: JoinedFeed;
  readonly #producer: NixlMetricProducer;
  readonly #said: DiagOnce;

  constructor({ profile, builderMetrics, ...options }: JoinedProducerOptions) {
    const { reader, memory, name, places, said } = options;
    this.#reader = reader;
    this.#said = said;
    this.#feed = new JoinedFeed({ ...options, producer: () => this });
    const temporality = (type: InstrumentType) => reader.selectAggregationTemporality(type);
    this.#producer = new NixlMetricProducer({ temporality }, { ...profile, feed: this.#feed, builderMetrics, memory });
    this[RING_REPORTER] = {
      name,
      places,
      joined: true,
      copy: THIS_COPY,
      rings: () => this.#feed.rings(),
      reported: () => memory.reported(),
    };
  }

  /** Does nothing when it is there already, and puts it back where another one took it out. */
  join(): void {
    addProducer(this.#reader, this);
    this.#feed.enter();
  }

  leave(): void {
    this.#feed.exit();
    removeProducer(this.#reader, this);
  }

  /** Never rejects: a rejection would cost the reader its other metrics. */
  async collect(): Promise<CollectionResult> {
    const { resourceMetrics, errors } = await this.#producer.collect();
    const dropped = this.#droppedKinds();
    const wanted = (metric: MetricData, ofBuilders: boolean): boolean =>
      !dropped.has(kindOf(metric)) && !(ofBuilders && this.#feed.leavesAllOut && !countsRecords(metric));
    const scopeMetrics = resourceMetrics.scopeMetrics.flatMap(({ scope, metrics }) => {
      const left = metrics.filter((metric) => wanted(metric, scope.name !== PACKAGE_NAME));
      return left.length === 0 ? [] : [{ scope, metrics: left }];
    });
    return { resourceMetrics: { ...resourceMetrics, scopeMetrics }, errors };
  }

  #droppedKinds(): ReadonlySet<string> {
    try {
      return droppedKinds(this.#reader, (kind, wanted) =>
        this.#said.warn(
          `${(this.#reader as object).constructor.name} ${kind}`,
          'aggregation',
          `a reader wants ${wanted} for each ${kind}: NIXL metrics of that kind come as they are added up here`,
        ),
      );
    } catch (error) {
      this.#said.failure('aggregation', "the reader's choice of aggregations", error);
      return new Set();
    }
  }
}

/** Records are the service's own: no other producer has them. */
function countsRecords({ descriptor }: MetricData): boolean {
  return descriptor.name.startsWith(METRIC_NIXL_RECORDS);
}
