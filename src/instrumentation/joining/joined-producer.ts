/** Producer that the instrumentation adds to a MetricReader: honours the reader's selectors, and omits rings that others report. */
import type {
  AggregationOption,
  CollectionResult,
  InstrumentType,
  MetricData,
  MetricProducer,
} from '@opentelemetry/sdk-metrics';
import { METRIC_NIXL_RECORDS } from '../../mapping/semconv.js';
import { PACKAGE_NAME } from '../../ground/package.js';
import { Inside } from '../../ground/inside.js';
import type { HistogramKind } from '../../settings/histograms.js';
import type { Profile } from '../../settings/settings.js';
import type { DiagOnce } from '../feed/diag-once.js';
import type { CollectWants, ReaderSnapshot, SnapshotFeed } from '../feed/snapshot-feed.js';
import { NixlMetricProducer, type SharedFeed } from '../producer/metric-producer.js';
import { aggregationOf, droppedKinds, histogramsFor, kindOf } from './aggregations.js';
import type { ReaderMemory } from './reader-memory.js';
import { reportersBefore, RING_REPORTER, type RingReporter, THIS_COPY, twoSources } from './ring-reporter.js';
import { addProducer, removeProducer, type SdkReader } from './sdk-provider.js';

/** The same for all readers of a provider. `name` is that of the instrumentation. */
export interface JoiningOptions extends Required<Omit<SharedFeed, keyof Profile | 'memory' | 'bothBuckets'>> {
  readonly profile: Profile;
  readonly log: DiagOnce;
  /** For readers that export by OTLP and select no aggregation. */
  readonly otlpHistograms: HistogramKind;
}

const READING_SELECTORS = "the reader's choice of aggregations";

export class JoinedProducer implements MetricProducer {
  readonly [RING_REPORTER]: RingReporter;
  readonly #options: JoiningOptions;
  readonly #reader: SdkReader;
  readonly #memory: ReaderMemory;
  readonly #producer: NixlMetricProducer;
  #entered = false;
  /** True if the last snapshot left nothing to report. */
  #omitsAll = false;

  constructor(options: JoiningOptions, reader: SdkReader, memory: ReaderMemory) {
    const { profile, builderMetrics, name, places } = options;
    this.#options = options;
    this.#reader = reader;
    this.#memory = memory;
    const temporality = (type: InstrumentType) => reader.selectAggregationTemporality(type);
    const rings = () => (this.#entered ? options.feed.rings() : undefined);
    const histograms = () => this.#histograms();
    // The producer joins the feed when it enters its reader: see join().
    const recovered = (agentId: number) => options.feed.recovered(agentId);
    const feed: SnapshotFeed = {
      join: () => {},
      leave: () => {},
      collect: (_, wants) => this.#snapshot(wants),
      rings,
      recovered,
      timeBySize: () => options.feed.timeBySize(),
    };
    this.#producer = new NixlMetricProducer(
      { temporality, histograms },
      new Inside({ ...profile, feed, builderMetrics, memory }),
    );
    const reported = () => memory.reported();
    this[RING_REPORTER] = { name, places, joined: true, copy: THIS_COPY, rings, reported };
  }

  /** Adds the producer to its reader. Does nothing if it is there; adds it again if other code removed it. */
  join(): void {
    addProducer(this.#reader, this);
    if (this.#entered) return;
    this.#entered = true;
    this.#options.feed.join(this.#memory);
    this.#memory.enter(this.#otherReporters());
    this.#warnOfTwo(({ places }) => places === this.#options.places);
  }

  leave(): void {
    if (this.#entered) this.#options.feed.leave(this.#memory);
    this.#entered = false;
    removeProducer(this.#reader, this);
  }

  /** Never rejects: a rejection would cost the reader its other metrics. */
  async collect(): Promise<CollectionResult> {
    const { resourceMetrics, errors } = await this.#producer.collect();
    const dropped = this.#droppedKinds();
    const isWanted = (metric: MetricData, isOfBuilder: boolean): boolean =>
      !dropped.has(kindOf(metric)) && !(isOfBuilder && this.#omitsAll && !countsRecords(metric));
    const scopeMetrics = resourceMetrics.scopeMetrics.flatMap(({ scope, metrics }) => {
      const left = metrics.filter((metric) => isWanted(metric, scope.name !== PACKAGE_NAME));
      return left.length === 0 ? [] : [{ scope, metrics: left }];
    });
    return { resourceMetrics: { ...resourceMetrics, scopeMetrics }, errors };
  }

  /** Returns the whole source without the rings that others report to the reader. */
  async #snapshot(wants?: CollectWants): Promise<ReaderSnapshot | undefined> {
    const reporters = this.#otherReporters();
    // Lists the others' rings before and after the snapshot: the other producer reports a ring in either list.
    const before = ringsOf(reporters);
    const snapshot = await this.#options.feed.collect(this.#memory, wants);
    // Meanwhile the memory may have passed to the reader of another provider, which then reports the later events.
    if (snapshot === undefined || !this.#entered) return undefined;
    const others = new Set([...before.paths, ...ringsOf(reporters).paths]);
    const shown = this.#memory.show(snapshot, others, reporters);
    const isOmitting = snapshot.agents.some(({ path, exported }) => exported && others.has(path));
    if (isOmitting) this.#warnOfTwo();
    this.#omitsAll = isOmitting && shown.length === 0;
    return { ...snapshot, shown, withoutSelf: before.active };
  }

  #otherReporters(): RingReporter[] {
    const reporters = reportersBefore(this, this.#reader._metricProducers);
    for (const reporter of reporters) reporter.reported(); // from this call on it keeps its readings, even beyond its end
    return reporters;
  }

  /** Warns once per pair of reader and producer. */
  #warnOfTwo(isDouble: (other: RingReporter) => boolean = () => true): void {
    const { name, places, log } = this.#options;
    const reader = nameOf(this.#reader);
    for (const other of reportersBefore(this, this.#reader._metricProducers).filter(isDouble)) {
      log.warn(`${reader} ${other.name}`, 'twice', twoSources(reader, other, { name, places }));
    }
  }

  #histograms(): AggregationOption {
    const { log, otlpHistograms } = this.#options;
    try {
      return histogramsFor(this.#reader, otlpHistograms);
    } catch (error) {
      log.failure('aggregation', READING_SELECTORS, error);
      return aggregationOf(undefined);
    }
  }

  #droppedKinds(): ReadonlySet<string> {
    const { log } = this.#options;
    try {
      return droppedKinds(this.#reader, (kind, wanted) => {
        const message = `a reader selects ${wanted} for each ${kind}: NIXL metrics of that kind keep their own aggregation`;
        log.warn(`${nameOf(this.#reader)} ${kind}`, 'aggregation', message);
      });
    } catch (error) {
      log.failure('aggregation', READING_SELECTORS, error);
      return new Set();
    }
  }
}

function nameOf(reader: object): string {
  return reader.constructor.name;
}

function ringsOf(reporters: readonly RingReporter[]): { paths: ReadonlySet<string>; active: boolean } {
  const all = reporters.map((reporter) => reporter.rings()).filter((rings) => rings !== undefined);
  return { paths: new Set(all.flatMap((rings) => [...rings])), active: all.length > 0 };
}

/** Records belong to the service: no other producer has them. */
function countsRecords({ descriptor }: MetricData): boolean {
  return descriptor.name.startsWith(METRIC_NIXL_RECORDS);
}
