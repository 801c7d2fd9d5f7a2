/** Metrics straight from the rings' tallies: for whoever builds the MetricReader. */
import { diag, type HrTime } from '@opentelemetry/api';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  InstrumentType,
  type MetricData,
  type MetricProducer,
  type ScopeMetrics,
} from '@opentelemetry/sdk-metrics';
import { check } from '../arguments.js';
import {
  hostAttributes,
  type Metric,
  metricsOf,
  nixlLabelRegistry,
  type Naming,
  withLabels,
} from '../mapping/index.js';
import { openSource } from '../shm-bridge/index.js';
import { AgentAttributes } from './agents/agent-attributes.js';
import { AgentSeriesCache } from './agents/agent-series.js';
import { BuilderMetrics } from './builders/builder-metrics.js';
import { producerSettings, type Profile, warnOfNoEffect } from '../settings/settings.js';
import type { NixlMetricProducerOptions, Temporality } from '../settings/options.js';
import { type MetricProcessor, tallyBuilders } from './builders/metric-processor.js';
import { hrTimeOf, metricData, numberData } from './metric-data.js';
import { increase } from '../exact.js';
import { type AgentView, type Moment } from './readings.js';
import { placesText } from './place-problems.js';
import { SELF_METRICS } from './self-metrics.js';
import { ReaderMemory } from './joining/reader-memory.js';
import { RING_REPORTER, type RingReporter, THIS_COPY } from './joining/ring-reporter.js';
import { type FeedSnapshot, type ReaderSnapshot, type SnapshotFeed, SourceFeed } from './snapshot-feed.js';
import { PACKAGE_NAME, PACKAGE_VERSION } from './version.js';

/** What the instrumentation, and serve, hand to the producers that share a source. */
export interface SharedFeed extends Profile {
  readonly feed: SnapshotFeed;
  readonly builderMetrics?: BuilderMetrics;
  /** Memory of the reader, where it outlives the producer. Default: a new one. */
  readonly memory?: ReaderMemory;
  /** For messages: what the producer is, and where it reads. */
  readonly name?: string;
  readonly places?: string;
}

interface Deltas {
  readonly counters: boolean;
  readonly histograms: boolean;
}

/** Sums that also fall say nothing without where they began. */
const NEVER_DELTA: readonly InstrumentType[] = [
  InstrumentType.UP_DOWN_COUNTER,
  InstrumentType.OBSERVABLE_UP_DOWN_COUNTER,
];

/** The collector thread is no older than this process: before it, its counts stood at 0. */
const PROCESS_START = hrTimeOf(performance.timeOrigin);

/**
 * Give it to a MetricReader: `new PrometheusExporter({ metricProducers: [new NixlMetricProducer()] })`. Histograms
 * are exact, agents that are gone disappear, start times are the agents' own, and no event costs JavaScript. Deltas
 * are its own state: use one producer per reader. Views and cardinality limits of the SDK do not apply.
 */
export class NixlMetricProducer implements MetricProducer {
  /** @internal For other producers of the same reader. */
  readonly [RING_REPORTER]: RingReporter;
  readonly #feed: SnapshotFeed;
  readonly #close: () => void;
  readonly #naming: Naming;
  readonly #hostname: string;
  readonly #temporality: Temporality;
  readonly #metrics: readonly Metric[];
  readonly #series: AgentSeriesCache;
  readonly #builderMetrics: BuilderMetrics | undefined;
  readonly #memory: ReaderMemory;
  /** Keeps the last readings also where no delta needs them. */
  #keepsLast: boolean;
  #closed = false;

  /**
   * `shared` is for the instrumentation: a feed to use in place of a source of its own.
   * @throws NixlTelemetryError CONFIG_INVALID for a wrong option or when nothing says where the rings are;
   * ADDON_MISSING when the native part cannot be loaded.
   */
  constructor(options: NixlMetricProducerOptions = {}, shared?: SharedFeed) {
    check(
      shared === undefined || isShared(shared),
      'shared',
      shared,
      'nothing: metricProducer() of an instrumentation shares',
    );
    const { feed, builderMetrics, close, memory, name, places, ...profile } =
      shared === undefined ? ownFeed(options) : sharedFeed(options, shared);
    const { naming, hostname, events, attributes, rankVariable, customEvents, nixlRelease: release } = profile;
    const builders = tallyBuilders(profile.builders);
    const metrics = metricsOf(naming, { events, customEvents, builders, release });
    this.#feed = feed;
    this.#close = close;
    this.#naming = naming;
    this.#hostname = hostname;
    this.#temporality = options.temporality ?? 'cumulative';
    this.#metrics = metrics;
    const nixlLabels = nixlLabelRegistry(profile.nixlLabels);
    const agentAttributes =
      builderMetrics?.agentAttributes ??
      new AgentAttributes({ registry: attributes, nixlLabels, hostname, rankVariable });
    this.#series = new AgentSeriesCache({ naming, hostname, metrics, agentAttributes, sticky: false });
    this.#builderMetrics = builderMetrics;
    this.#memory = memory ?? new ReaderMemory();
    this.#keepsLast = memory !== undefined;
    this[RING_REPORTER] = {
      name: name ?? 'NixlMetricProducer',
      places: places ?? '',
      joined: false,
      copy: THIS_COPY,
      rings: () => (this.#closed ? undefined : feed.rings()),
      reported: () => {
        this.#keepsLast = true;
        return this.#memory.previous?.agents ?? new Map();
      },
    };
    builderMetrics?.join(this.#memory, (type) => this.#temporalityOf(type));
    if (shared === undefined) builderMetrics?.begin(); // others may still join what is shared
    feed.join(this);
  }

  /** Runs the builders; takes records and further builders. */
  get processor(): MetricProcessor | undefined {
    return this.#builderMetrics?.processor;
  }

  /** Drains all rings and reports everything. Never rejects: a rejection would cost the reader its other metrics. */
  async collect(): Promise<CollectionResult> {
    try {
      const snapshot = this.#closed ? undefined : await this.#feed.collect(this);
      if (snapshot === undefined || this.#closed) return result([], []);
      const own = this.#metricsFrom(snapshot);
      const { scopeMetrics = [], errors = [] } = (await this.#builderMetrics?.collect(this.#memory, snapshot)) ?? {};
      return result(own, errors, scopeMetrics);
    } catch (error) {
      return result([], [error]);
    }
  }

  /** Lets go of the rings; later collects are empty. A source that is the instrumentation's stays open. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#keepsLast) this.#memory.previous = undefined;
    this.#builderMetrics?.leave(this.#memory);
    this.#feed.leave(this);
    this.#close();
  }

  /** As close(), in the form that providers and readers use. */
  shutdown(): Promise<void> {
    try {
      this.close();
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #metricsFrom(snapshot: ReaderSnapshot): MetricData[] {
    const deltas = this.#deltas();
    const moment = { takenMs: snapshot.takenMs, endTime: hrTimeOf(snapshot.takenMs) };
    const views = this.#views(snapshot);
    const data: MetricData[] = [];
    this.#metrics.forEach((metric, index) => {
      const delta = metric.kind === 'histogram' ? deltas.histograms : deltas.counters;
      const one = metricData(metric, index, views, moment, delta);
      if (one !== undefined) data.push(one);
    });
    if (snapshot.withoutSelf !== true) data.push(...this.#selfMetrics(snapshot, moment, deltas.counters));
    // Only now: had anything above thrown, the next delta would still begin where the last one ended.
    const keep = deltas.counters || deltas.histograms || this.#keepsLast;
    const agents = new Map(views.map(({ agent }) => [agent.id, agent]));
    this.#memory.previous = keep ? { snapshot, agents } : undefined;
    return data;
  }

  #views({ agents, shown = agents }: ReaderSnapshot): AgentView[] {
    const exported = shown.filter((agent) => agent.exported);
    const series = this.#series.of(exported);
    const before = this.#memory.previous;
    const lastCollect = before === undefined ? undefined : hrTimeOf(before.snapshot.takenMs);
    return exported.map((agent, i) => {
      const previous = before?.agents.get(agent.id);
      const startTime = hrTimeOf(agent.startTimeMs);
      const deltaStartTime = previous === undefined ? startTime : lastCollect!;
      return { agent, previous, series: series[i]!, startTime, deltaStartTime };
    });
  }

  #selfMetrics(snapshot: FeedSnapshot, { endTime }: Moment, delta: boolean): MetricData[] {
    const before = this.#memory.previous?.snapshot;
    const base = hostAttributes(this.#naming, this.#hostname);
    return SELF_METRICS.flatMap((metric) => {
      const subtract = delta && metric.kind === 'counter';
      const previous = subtract && before !== undefined ? metric.points(before) : [];
      const startTime: HrTime = subtract && before !== undefined ? hrTimeOf(before.takenMs) : PROCESS_START;
      const points = metric.points(snapshot).map(({ labels, value }, i) => ({
        startTime,
        endTime,
        attributes: withLabels(this.#naming, base, labels),
        value: subtract ? Number(increase(value, previous[i]?.value)) : value,
      }));
      return points.length === 0 ? [] : [numberData(metric, delta, points)];
    });
  }

  /** The tallies are sums that are read, so counters are what the SDK calls observable ones. */
  #deltas(): Deltas {
    const isDelta = (type: InstrumentType) => this.#temporalityOf(type) === AggregationTemporality.DELTA;
    return { counters: isDelta(InstrumentType.OBSERVABLE_COUNTER), histograms: isDelta(InstrumentType.HISTOGRAM) };
  }

  #temporalityOf(type: InstrumentType): AggregationTemporality {
    const temporality = this.#temporality;
    if (typeof temporality === 'function') return temporality(type);
    return temporality === 'delta' && !NEVER_DELTA.includes(type)
      ? AggregationTemporality.DELTA
      : AggregationTemporality.CUMULATIVE;
  }
}

interface Feed extends SharedFeed {
  readonly close: () => void;
}

function ownFeed(options: NixlMetricProducerOptions): Feed {
  const { source: sourceOptions, ...profile } = producerSettings(options);
  const logger = diag.createComponentLogger({ namespace: PACKAGE_NAME });
  warnOfNoEffect(profile, logger);
  const builderMetrics = BuilderMetrics.of(profile, logger);
  const source = openSource({ ...sourceOptions, ...builderMetrics.wants });
  const feed = new SourceFeed(source, logger);
  builderMetrics.attach(source);
  const close = (): void => {
    builderMetrics.close();
    feed.close();
  };
  return { ...profile, feed, builderMetrics, close, places: placesText(sourceOptions) };
}

function isShared(given: SharedFeed): boolean {
  return typeof (given as Partial<SharedFeed> | null)?.feed?.collect === 'function';
}

function sharedFeed({ naming, hostname }: NixlMetricProducerOptions, shared: SharedFeed): Feed {
  return { ...shared, naming: naming ?? shared.naming, hostname: hostname ?? shared.hostname, close: () => {} };
}

const SCOPE = { name: PACKAGE_NAME, version: PACKAGE_VERSION };

/** The resource is the reader's: the SDK takes no notice of this one. */
function result(metrics: MetricData[], errors: unknown[], more: ScopeMetrics[] = []): CollectionResult {
  const own = metrics.length === 0 ? [] : [{ scope: SCOPE, metrics }];
  return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [...own, ...more] }, errors };
}
