/** Producer that the instrumentation adds to a MetricReader: honours the reader's selectors, and omits rings that others report. */
import type { CollectionResult, InstrumentType, MetricData, MetricProducer } from '@opentelemetry/sdk-metrics';
import { METRIC_NIXL_RECORDS } from '../../mapping/index.js';
import { PACKAGE_NAME } from '../../package.js';
import type { Profile } from '../../settings/settings.js';
import type { BuilderMetrics } from '../builders/builder-metrics.js';
import type { DiagOnce } from '../feed/diag-once.js';
import { type NixlMetricProducer, sharedProducer } from '../producer/metric-producer.js';
import { droppedKinds, kindOf } from './aggregations.js';
import { JoinedFeed, type JoinedFeedOptions } from './joined-feed.js';
import type { ReaderMemory } from './reader-memory.js';
import { RING_REPORTER, type RingReporter, THIS_COPY } from './ring-reporter.js';
import { addProducer, removeProducer, type SdkReader } from './sdk-provider.js';

/** The same for all readers of a provider. */
export interface JoiningOptions extends JoinedFeedOptions {
  readonly profile: Profile;
  readonly builderMetrics: BuilderMetrics;
}

export class JoinedProducer implements MetricProducer {
  readonly [RING_REPORTER]: RingReporter;
  readonly #reader: SdkReader;
  readonly #feed: JoinedFeed;
  readonly #producer: NixlMetricProducer;
  readonly #log: DiagOnce;

  constructor(options: JoiningOptions, reader: SdkReader, memory: ReaderMemory) {
    const { profile, builderMetrics, name, places, log } = options;
    this.#reader = reader;
    this.#log = log;
    this.#feed = new JoinedFeed(options, this, reader, memory);
    const temporality = (type: InstrumentType) => reader.selectAggregationTemporality(type);
    this.#producer = sharedProducer({ temporality }, { ...profile, feed: this.#feed, builderMetrics, memory });
    this[RING_REPORTER] = {
      name,
      places,
      joined: true,
      copy: THIS_COPY,
      rings: () => this.#feed.rings(),
      reported: () => memory.reported(),
    };
  }

  /** Does nothing when it is in the reader already; returns there when other code removed it. */
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
    const isWanted = (metric: MetricData, isOfBuilder: boolean): boolean =>
      !dropped.has(kindOf(metric)) && !(isOfBuilder && this.#feed.omitsAll && !countsRecords(metric));
    const scopeMetrics = resourceMetrics.scopeMetrics.flatMap(({ scope, metrics }) => {
      const left = metrics.filter((metric) => isWanted(metric, scope.name !== PACKAGE_NAME));
      return left.length === 0 ? [] : [{ scope, metrics: left }];
    });
    return { resourceMetrics: { ...resourceMetrics, scopeMetrics }, errors };
  }

  #droppedKinds(): ReadonlySet<string> {
    try {
      return droppedKinds(this.#reader, (kind, wanted) => {
        const reader = (this.#reader as object).constructor.name;
        const message = `a reader selects ${wanted} for each ${kind}: NIXL metrics of that kind keep their own aggregation`;
        this.#log.warn(`${reader} ${kind}`, 'aggregation', message);
      });
    } catch (error) {
      this.#log.failure('aggregation', "the reader's choice of aggregations", error);
      return new Set();
    }
  }
}

/** Records belong to the service: no other producer has them. */
function countsRecords({ descriptor }: MetricData): boolean {
  return descriptor.name.startsWith(METRIC_NIXL_RECORDS);
}
