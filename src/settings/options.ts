/**
 * Options of the instrumentation and the producer. The properties are generated from option-rows.ts: `npm run schema`.
 */
import type { InstrumentationConfig } from '@opentelemetry/instrumentation';
import type { AggregationOption, AggregationTemporality, InstrumentType } from '@opentelemetry/sdk-metrics';
import type { ConfiguredEngine } from '../engines/engine-identity.js';
import type {
  AttributeSet,
  AttributeSpec,
  CustomEvent,
  Naming,
  NixlLabels,
  NixlRelease,
  SeriesPreset,
} from '../mapping/index.js';
import type { HistogramKind } from './histograms.js';
import type { BuilderName, MetricBuilder } from './metric-builder.js';

export interface NixlOptions {
  /**
   * Configuration file, YAML or JSON, with any of these options. Relative paths in it are relative to its folder.
   * Default: the environment's NIXL_OTEL_CONFIG.
   */
  configFile?: string;
  /** Directory of rings, searched to depth 3. Default: the environment's NIXL_TELEMETRY_DIR. */
  directories?: string | readonly string[];
  /** Paths of rings with `*` and `?` in their last part. */
  globs?: string | readonly string[];
  /** `nixl`: the names of NIXL's own exporter; `otel`: dotted names, UCUM units, seconds. Default: `nixl`. */
  naming?: Naming;
  /**
   * NIXL release with the names and labels of the series `agent_*`: 1.0, 1.2, 1.3, 1.4, main; for naming `nixl`. Rings
   * of all releases are read. Default: `main`.
   */
  nixlRelease?: NixlRelease;
  /**
   * Labels of the series `agent_*`: `prometheus`, or `prometheus_mp`, which adds pid, agent_instance and local_rank of
   * the agent; for naming `nixl`. Default: `prometheus`.
   */
  nixlLabels?: NixlLabels;
  /**
   * Series of an agent: `nixl`: those of NIXL's exporter and nothing else; `standard`: 135; `full`: all that there
   * are, 275, and 34 for each class of sizes that it moves. Not together with `builders`. Default: `standard`.
   */
  series?: SeriesPreset;
  /** Value of the label `hostname` in naming `nixl`. Default: os.hostname(). */
  hostname?: string;
  /**
   * Time between two drains of the rings, 1 to 10000. If it is more than a fifth of the agents' flush interval (100 ms
   * by default), events may be lost. Default: the environment's NIXL_TELEMETRY_RUN_INTERVAL, else 20 ms.
   */
  drainIntervalMs?: number;
  /**
   * Time for which the last values of a dead agent stay, at least until every metric reader has exported them. If
   * several sources of a process read the agent, the longest time counts. Default: 30000 ms.
   */
  deadTtlMs?: number;
  /** Time without an event after which agents with an invisible process are dropped. Default: never. */
  idleTtlMs?: number;
  /** Read rings on network and FUSE file systems as well. Default: `false`. */
  force?: boolean;
  /** Read only rings that belong to this user id. Default: any user. */
  owners?: readonly number[];
  /**
   * Events to export: globs over base event names, with commas between them or in an array. `!` in front excludes.
   * Default: the environment's NIXL_TELEMETRY_ENABLED_METRICS, else every event.
   */
  enabledMetrics?: string | readonly string[];
  /**
   * Attributes of every series of an agent; `kubernetes` for container, pod, namespace and node, with the names of
   * OpenTelemetry. A file and the code can have custom ones as well.
   */
  attributes?: readonly (AttributeSpec | AttributeSet)[];
  /**
   * Engines for `nixl.agent.info`: regular expressions for command lines and names of agents; they come before those
   * that the package knows. Default: the engines that the package knows.
   */
  engines?: readonly ConfiguredEngine[];
  /**
   * Directory of the kubelet's links to logs, which name pod, namespace and container of an agent for
   * `nixl.agent.info`. Default: `/var/log/containers`.
   */
  containerLogs?: string;
  /**
   * Environment variable of an agent's process that holds its local rank. Default: the environment's
   * NIXL_TELEMETRY_RANK_ENV, else `LOCAL_RANK`.
   */
  rankVariable?: string;
  /** Events that NIXL does not know: each gets a custom metric, or adds a status to NIXL's errors. */
  customEvents?: readonly CustomEvent[];
  /**
   * Builders that make the metrics, in this order: names of built-in builders, and custom builders. In a file a custom
   * builder is the path of its module. Default: those of `series`.
   */
  builders?: readonly (BuilderName | MetricBuilder)[];
  /**
   * Upper bounds of single events' histograms, by base event name and in the unit of the event. Needs the builder
   * `nixl` or `durations`.
   */
  histogramBounds?: Readonly<Record<string, readonly number[]>>;
  /**
   * Upper bounds of durations, microseconds in both namings. Needs the builder `nixl` or `durations` or `events` or
   * `categories` or `custom`. Default: the environment's NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US, else NIXL's own, 10 us
   * to 10 s.
   */
  durationBoundsUs?: readonly number[];
  /**
   * Upper bounds of transfer sizes, bytes. Needs the builder `transfers`. Default: powers of 4 from 256 B to 4 GiB;
   * with `series` `standard` powers of 16 from 4 KiB.
   */
  sizeBounds?: readonly number[];
  /**
   * Upper bounds of throughput, bytes per second. Needs the builder `transfers`. Default: 1, 2.5 and 5 of each decade
   * from 1 MB/s to 1 TB/s; with `series` `standard` six from 100 MB/s to 500 GB/s.
   */
  throughputBounds?: readonly number[];
}

export interface NixlInstrumentationConfig extends InstrumentationConfig, NixlOptions {
  /**
   * Series of agents per instrument of the API, 20 to 1900; further agents are exported together as agent `other`.
   * Only for instruments of the API; the SDK keeps at most 2000 series per instrument and never forgets one. Default:
   * 1900.
   */
  seriesLimit?: number;
  /**
   * Milliseconds of main-thread time per second for histograms of durations, 1 to 1000; durations beyond it are
   * sampled. Only for instruments of the API. Default: 10.
   */
  durationBudgetMs?: number;
}

/** Type of a reader's `selectAggregationTemporality`. The metric producer calls it at each collect, not before. */
export type TemporalitySelector = (instrumentType: InstrumentType) => AggregationTemporality;
export type Temporality = 'cumulative' | 'delta' | TemporalitySelector;

/** Type of a reader's `selectAggregation`. The metric producer calls it at each collect, for histograms only. */
export type AggregationSelector = (instrumentType: InstrumentType) => AggregationOption;
export type Histograms = HistogramKind | AggregationSelector;

export interface NixlMetricProducerOptions extends NixlOptions {
  /**
   * Temporality of counters and histograms; gauges and up-down counters are always cumulative. Default: `cumulative`.
   */
  temporality?: Temporality;
  /**
   * Histograms with `explicit` buckets, or `exponential` ones with at most 160 buckets. A reader that is a
   * `PrometheusExporter` prints nothing for an exponential histogram. Default: `explicit`.
   */
  histograms?: Histograms;
}
