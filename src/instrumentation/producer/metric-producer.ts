/** Producer of metrics from the tallies of the rings, for services that build their own MetricReader. */
import { diag, type DiagLogger, type HrTime } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type {
  AggregationOption,
  CollectionResult,
  MetricData,
  MetricProducer,
  ScopeMetrics,
} from '@opentelemetry/sdk-metrics';
import { isUnsupported } from '../../ground/errors.js';
import { Inside } from '../../ground/inside.js';
import { increase } from '../../ground/exact.js';
import { hostAttributes, type Metric, withLabels } from '../../mapping/index.js';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../ground/package.js';
import { producerSettings, type Profile, warnOfNoEffect } from '../../settings/settings.js';
import { placesText } from '../feed/place-problems.js';
import type { Histograms, NixlMetricProducerOptions, Temporality } from '../../settings/options.js';
import { madeOnce } from '../../ground/maps.js';
import { AgentWords, copyOfAgent } from '../../shm-bridge/agent-words.js';
import { type AgentSnapshot, openSource, type RingSource, type SourceOptions } from '../../shm-bridge/index.js';
import { KeptSnapshot } from '../../shm-bridge/kept-snapshot.js';
import { TimeSlices } from '../../ground/time-slices.js';
import { AgentSeriesCache } from '../agents/agent-series.js';
import { BuilderMetrics } from '../builders/builder-metrics.js';
import { isInWords, type MetricProcessor, type Needs, needsOf, tallyMetrics } from '../builders/metric-processor.js';
import {
  type CollectWants,
  type FeedSnapshot,
  LateFeed,
  type ReaderSnapshot,
  type SnapshotFeed,
  SourceFeed,
} from '../feed/snapshot-feed.js';
import type { AgentSizes } from '../../view/sizes/direction-sizes.js';
import { aggregationOf, exponentialForm } from '../joining/aggregations.js';
import { ReaderMemory } from '../joining/reader-memory.js';
import { RING_REPORTER, type RingReporter, THIS_COPY } from '../joining/ring-reporter.js';
import { AggregationTemporality, InstrumentType } from '../sdk-enums.js';
import { type OwnMetric, SELF_METRICS } from '../self-metrics.js';
import { SERVE_METRICS } from '../serve-metrics.js';
import { DEFAULT_FORM, type ExponentialForm } from './exponential.js';
import { type AgentView, hrTimeOf, metricData, type Moment, numberData } from './metric-data.js';

/** Feed and settings of a producer that shares the source of an instrumentation or of serve. */
export interface SharedFeed extends Profile {
  readonly feed: SnapshotFeed;
  readonly builderMetrics: BuilderMetrics;
  /** Memory of the reader, if it outlives the producer. Default: a new one. */
  readonly memory?: ReaderMemory;
  /** Name of the producer and the places that it reads, for messages. */
  readonly name?: string;
  readonly places?: string;
  /**
   * For an exposition: cumulative histograms have exponential buckets beside the explicit ones, and attributes of agents are
   * frozen. Default: false.
   */
  readonly bothBuckets?: boolean;
}

/** Agents whose numbers lie in the words of the addon. */
export interface PageAgents extends Moment {
  readonly metrics: readonly Metric[];
  readonly views: readonly (AgentView & { readonly agent: AgentWords })[];
  readonly words: ArrayBuffer;
}

/** Metrics of a page. Those that are no agents' are made while they are iterated, once. */
export interface PageMetrics {
  readonly resource: Pick<Resource, 'attributes'>;
  /** Undefined if the agents are among the metrics that follow: they have no words. */
  readonly agents?: PageAgents | undefined;
  readonly scopeMetrics: readonly { readonly metrics: Iterable<MetricData> }[];
}

export interface PageCollection {
  readonly metrics: PageMetrics;
  /** Slices of the collect, which the page continues. */
  readonly slices: TimeSlices;
  readonly errors: readonly unknown[];
}

/** Key of a method that users cannot call by mistake: an SDK calls collect() with options of its own. */
export const COLLECT = Symbol('collect');

interface Deltas {
  readonly counters: boolean;
  readonly histograms: boolean;
}

const NO_DELTAS: Deltas = { counters: false, histograms: false };

interface Context extends SharedFeed {
  readonly close: () => void;
}

/** The delta of a sum that can also fall has no meaning without the sum at its beginning. */
const NEVER_DELTA: readonly InstrumentType[] = [
  InstrumentType.UP_DOWN_COUNTER,
  InstrumentType.OBSERVABLE_UP_DOWN_COUNTER,
];

/** Start of the collector's counts, and of the first delta of a recovered agent: this process is older than both. */
const PROCESS_START = hrTimeOf(performance.timeOrigin);

/**
 * Reports the metrics of all rings to one MetricReader:
 * `new PrometheusExporter({ metricProducers: [new NixlMetricProducer()] })`. Histograms are exact, agents that are gone
 * disappear, start times are those of the agents, and no event costs main-thread time. A producer keeps the state of deltas: use
 * one producer per reader. Views and cardinality limits of the SDK do not apply.
 */
export class NixlMetricProducer implements MetricProducer {
  /** @internal For other producers of the same reader. */
  readonly [RING_REPORTER]: RingReporter;
  readonly #context: Context;
  readonly #temporality: Temporality;
  readonly #histograms: Histograms;
  /** Those whose numbers a page takes from the words of agents come first. */
  readonly #metrics: readonly Metric[];
  /** Number of these. */
  readonly #inWords: number;
  readonly #needs: Needs;
  readonly #series: AgentSeriesCache;
  readonly #memory: ReaderMemory;
  /** Snapshots of pages, with and without exponential histograms. */
  readonly #kept = new Map<boolean, KeptSnapshot>();
  /** Metrics with a memory need the order of the snapshots: collects wait for its end, and then begin at once. */
  #makingPage: Promise<void> | undefined;
  /** True if the last readings are kept even when no delta needs them. */
  #keepsLast: boolean;
  #closed = false;

  /**
   * On a platform without rings it warns through `diag`, and its collects are empty.
   * @throws NixlTelemetryError CONFIG_INVALID for a wrong option, or if no setting names a place with rings; ADDON_MISSING
   * if the package has a native part for this platform, and it cannot be loaded.
   */
  constructor(options?: NixlMetricProducerOptions);
  /** @internal Reads `shared` instead of opening a source. Checks no option. */
  constructor(options: NixlMetricProducerOptions, shared: Inside<SharedFeed>);
  constructor(options: NixlMetricProducerOptions = {}, inside?: Inside<SharedFeed>) {
    const shared = Inside.valueOf(inside);
    const context = (this.#context = shared === undefined ? ownContext(options) : sharedContext(options, shared));
    const { feed, naming, hostname, builderMetrics, memory } = context;
    this.#temporality = options.temporality ?? 'cumulative';
    this.#histograms = options.histograms ?? 'explicit';
    const metrics = (this.#metrics = tallyMetrics(context));
    this.#needs = needsOf(metrics);
    this.#inWords = metrics.filter(isInWords).length;
    const { agentAttributes } = builderMetrics;
    this.#series = new AgentSeriesCache({
      ...{ naming, hostname, metrics, agentAttributes },
      sticky: false,
      frozen: context.bothBuckets === true,
    });
    this.#memory = memory ?? new ReaderMemory();
    this.#keepsLast = memory !== undefined;
    this[RING_REPORTER] = {
      name: context.name ?? 'NixlMetricProducer',
      places: context.places ?? '',
      joined: false,
      copy: THIS_COPY,
      rings: () => (this.#closed ? undefined : feed.rings()),
      reported: () => {
        this.#keepsLast = true;
        return this.#memory.previous?.agents ?? new Map();
      },
    };
    builderMetrics.join(this.#memory, {
      temporality: (type) => this.#temporalityOf(type),
      aggregation: (type) => this.#aggregationOf(type),
    });
    if (shared === undefined) void builderMetrics.begin(); // further producers may still join a shared feed
    feed.join(this);
  }

  /** Processor that runs the builders. It accepts records and further builders. */
  get processor(): MetricProcessor {
    return this.#context.builderMetrics.processor;
  }

  /**
   * Drains all rings. Returns the classes of sizes of each agent, and the line through their times: since its start, and for the
   * last minute, which begins with the first call or collect. The fields are those of /api/v1/sizes. Empty after close().
   */
  async timeBySize(): Promise<readonly AgentSizes[]> {
    return this.#closed ? [] : this.#context.feed.timeBySize();
  }

  /** Drains all rings and reports everything. Never rejects: a rejection would cost the reader its other metrics. */
  async collect(): Promise<CollectionResult> {
    try {
      while (this.#makingPage !== undefined) await this.#makingPage;
      const snapshot = await this.#snapshot();
      if (snapshot === undefined) return result([], []);
      const deltas = this.#deltas();
      const views = this.#views(snapshot, deltas);
      const own = [...this.#metricsFrom(snapshot, views, deltas)];
      // Set last: if the code above throws, the next delta still begins where the previous one ended.
      const keep = deltas.counters || deltas.histograms || this.#keepsLast;
      this.#memory.previous = keep
        ? { snapshot, agents: new Map(views.map(({ agent }) => [agent.id, agent])) }
        : undefined;
      const { scopeMetrics, errors } = await this.#context.builderMetrics.collect(this.#memory, snapshot);
      return result(own, errors, scopeMetrics);
    } catch (error) {
      return result([], [error]);
    }
  }

  /**
   * @internal Collects for a page, and never holds the points of all agents. Resolves to what `use` resolves to; further collects
   * wait until then. Rejects if the snapshot fails. `exponential`: false for histograms with explicit buckets only.
   */
  async [COLLECT]<T>(exponential: boolean, use: (collection: PageCollection) => Promise<T>): Promise<T> {
    while (this.#makingPage !== undefined) await this.#makingPage;
    const made = this.#collectPage(exponential).then(use);
    const end = (): void => void (this.#makingPage = undefined);
    this.#makingPage = made.then(end, end);
    return made;
  }

  async #collectPage(exponential: boolean): Promise<PageCollection> {
    const { builderMetrics } = this.#context;
    await builderMetrics.begin();
    const { hasMeter } = builderMetrics;
    const kept = madeOnce(this.#kept, exponential, () => new KeptSnapshot());
    const slices = new TimeSlices();
    const snapshot = await this.#snapshot({ exponential, kept, slices });
    if (snapshot === undefined) return { metrics: { resource: NO_RESOURCE, scopeMetrics: [] }, slices, errors: [] };
    const views = this.#views(snapshot, NO_DELTAS);
    const agents = pageAgents(this.#metrics.slice(0, this.#inWords), views, momentOf(snapshot));
    const first = agents === undefined ? 0 : this.#inWords;
    const metrics = this.#metricsFrom(snapshot, views, NO_DELTAS, { exponential, first });
    const { scopeMetrics, errors } = hasMeter
      ? await builderMetrics.collect(this.#memory, { ...snapshot, agents: await copiesOf(snapshot.agents, slices) })
      : { scopeMetrics: [], errors: [] };
    return { metrics: { resource: NO_RESOURCE, agents, scopeMetrics: [{ metrics }, ...scopeMetrics] }, slices, errors };
  }

  /** Returns undefined after close(), and without an open source. */
  async #snapshot(wants?: CollectWants): Promise<ReaderSnapshot | undefined> {
    const snapshot = this.#closed ? undefined : await this.#context.feed.collect(this, { ...this.#needs, ...wants });
    return this.#closed ? undefined : snapshot;
  }

  /** Releases the rings; later collects are empty. The source of an instrumentation stays open. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#keepsLast) this.#memory.previous = undefined;
    const { feed, builderMetrics, close } = this.#context;
    builderMetrics.leave(this.#memory);
    feed.leave(this);
    close();
  }

  /** Calls close(), in the form that providers and readers use. */
  shutdown(): Promise<void> {
    return new Promise((resolve) => {
      this.close();
      resolve();
    });
  }

  *#metricsFrom(
    snapshot: ReaderSnapshot,
    views: readonly AgentView[],
    deltas: Deltas,
    { exponential: wantsExponential = true, first = 0 } = {},
  ): Generator<MetricData, void, undefined> {
    const exponential = this.#exponentialForm();
    const bothBuckets = wantsExponential && this.#context.bothBuckets === true;
    const moment = momentOf(snapshot);
    for (const [index, metric] of this.#metrics.entries()) {
      if (index < first) continue;
      const delta = metric.kind === 'histogram' ? deltas.histograms : deltas.counters;
      const one = metricData(metric, index, views, moment, { delta, exponential, bothBuckets });
      if (one !== undefined) yield one;
    }
    yield* this.#ownMetrics(snapshot, deltas);
  }

  #ownMetrics(snapshot: ReaderSnapshot, deltas: Deltas): MetricData[] {
    if (!this.#context.hasOwnMetrics || snapshot.withoutSelf === true) return [];
    return this.#selfMetrics(snapshot, momentOf(snapshot), deltas.counters);
  }

  #views({ agents, shown = agents }: ReaderSnapshot, deltas: Deltas): AgentView[] {
    const hasDeltas = deltas.counters || deltas.histograms;
    const exported = shown.filter((agent) => agent.exported);
    this.#context.builderMetrics.agentAttributes.number(agents);
    const series = this.#series.of(exported);
    const before = this.#memory.previous;
    const lastCollect = before === undefined ? undefined : hrTimeOf(before.snapshot.takenMs);
    return exported.flatMap((agent, i) => {
      let previous = before?.agents.get(agent.id);
      if (hasDeltas && previous === undefined && agent.recovered) {
        const counts = this.#context.feed.recovered(agent.id);
        // Without them a delta would repeat what earlier processes have exported.
        if (counts === undefined) return [];
        previous = { ...agent, ...counts };
      }
      const startTime = hrTimeOf(agent.startTimeMs);
      const deltaStartTime = previous === undefined ? startTime : (lastCollect ?? PROCESS_START);
      return { agent, previous, series: series[i]!, startTime, deltaStartTime };
    });
  }

  #selfMetrics(snapshot: FeedSnapshot, { endTime }: Moment, delta: boolean): MetricData[] {
    const before = this.#memory.previous?.snapshot;
    const { naming, hostname } = this.#context;
    const base = hostAttributes(naming, hostname);
    const dataOf = <Input>(metric: OwnMetric<[Input]>, now: Input, earlier: Input | undefined): MetricData[] => {
      const subtract = delta && metric.kind === 'counter';
      const previous = subtract && earlier !== undefined ? metric.points(earlier) : [];
      const startTime: HrTime = subtract && before !== undefined ? hrTimeOf(before.takenMs) : PROCESS_START;
      const points = metric.points(now).map(({ labels, value }, i) => ({
        startTime,
        endTime,
        attributes: withLabels(naming, base, labels),
        value: subtract ? Number(increase(value, previous[i]?.value)) : value,
      }));
      return points.length === 0 ? [] : [numberData(metric, delta, points)];
    };
    const { serve } = snapshot;
    return [
      ...SELF_METRICS.flatMap((metric) => dataOf(metric, snapshot, before)),
      ...(serve === undefined ? [] : SERVE_METRICS[naming].flatMap((metric) => dataOf(metric, serve, before?.serve))),
    ];
  }

  /** Tallies are read at each collect, so the SDK's temporality of observable counters applies. */
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

  /** Returns undefined for histograms with explicit buckets. */
  #exponentialForm(): ExponentialForm | undefined {
    const histograms = this.#histograms;
    if (typeof histograms === 'function') return exponentialForm(histograms(InstrumentType.HISTOGRAM));
    return histograms === 'exponential' ? DEFAULT_FORM : undefined;
  }

  #aggregationOf(type: InstrumentType): AggregationOption {
    return aggregationOf(type === InstrumentType.HISTOGRAM ? this.#exponentialForm() : undefined);
  }
}

function momentOf({ takenMs }: ReaderSnapshot): Moment {
  return { takenMs, endTime: hrTimeOf(takenMs) };
}

/** Returns undefined if an agent has no words, or they are in another snapshot. */
function pageAgents(metrics: readonly Metric[], views: readonly AgentView[], moment: Moment): PageAgents | undefined {
  const buffers = new Set(views.map(({ agent }) => (agent instanceof AgentWords ? agent.words.buffer : undefined)));
  const [words = NO_WORDS] = buffers;
  if (buffers.size > 1 || buffers.has(undefined)) return undefined;
  return { metrics, views: views as PageAgents['views'], words, ...moment };
}

const NO_WORDS = new ArrayBuffer(0);

function ownContext(options: NixlMetricProducerOptions): Context {
  const { source: sourceOptions, ...profile } = producerSettings(options);
  const logger = diag.createComponentLogger({ namespace: PACKAGE_NAME });
  warnOfNoEffect(profile, logger);
  const builderMetrics = BuilderMetrics.of(profile, logger);
  const feed = new LateFeed();
  const source = openIfSupported({ ...sourceOptions, ...builderMetrics.wants }, logger);
  const sourceFeed = source && new SourceFeed(source, logger);
  if (source !== undefined) builderMetrics.attach(source);
  feed.attach(sourceFeed);
  const close = (): void => {
    builderMetrics.close();
    sourceFeed?.close();
  };
  return { ...profile, feed, builderMetrics, close, places: placesText(sourceOptions) };
}

/** Returns undefined on a platform without rings: the service is to run there, too. */
function openIfSupported(options: SourceOptions, logger: DiagLogger): RingSource | undefined {
  try {
    return openSource(options);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    logger.warn(`NIXL telemetry is off: ${error.message}`);
    return undefined;
  }
}

function sharedContext({ naming, hostname }: NixlMetricProducerOptions, shared: SharedFeed): Context {
  return { ...shared, naming: naming ?? shared.naming, hostname: hostname ?? shared.hostname, close: () => {} };
}

const SCOPE = { name: PACKAGE_NAME, version: PACKAGE_VERSION };

/** The empty resource, for readers without a provider: a provider's reader uses the resource of its provider. */
const NO_RESOURCE: Resource = {
  attributes: Object.freeze({}),
  merge: (other) => other ?? NO_RESOURCE,
  getRawAttributes: () => [],
};

function result(metrics: MetricData[], errors: unknown[], more: ScopeMetrics[] = []): CollectionResult {
  const own = metrics.length === 0 ? [] : [{ scope: SCOPE, metrics }];
  return { resourceMetrics: { resource: NO_RESOURCE, scopeMetrics: [...own, ...more] }, errors };
}

/** Builders may keep agents, and the next snapshot changes these. */
async function copiesOf(agents: readonly AgentSnapshot[], slices: TimeSlices): Promise<AgentSnapshot[]> {
  const copies: AgentSnapshot[] = [];
  for (const agent of agents) {
    const pause = slices.turn();
    if (pause !== undefined) await pause;
    copies.push(copyOfAgent(agent, true));
  }
  return copies;
}
