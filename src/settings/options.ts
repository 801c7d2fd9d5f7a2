/** Options of the instrumentation and the producer. */
import type { InstrumentationConfig } from '@opentelemetry/instrumentation';
import type { AggregationTemporality, InstrumentType } from '@opentelemetry/sdk-metrics';
import type { AttributeSpec, CustomEvent, Naming, NixlLabels, NixlRelease } from '../mapping/index.js';
import type { MetricBuilder } from '../instrumentation/builders/metric-builder.js';
import type { BuilderName } from '../instrumentation/builders/metric-processor.js';

export interface NixlOptions {
  /**
   * A YAML or JSON file with any of these options. What options and environment say goes before it. Default: the
   * environment's NIXL_OTEL_CONFIG.
   */
  configFile?: string;
  /** Directories whose files are rings, searched to depth 3. Default: the environment's NIXL_TELEMETRY_DIR. */
  directories?: string | readonly string[];
  /** Paths of rings with `*` and `?` in their last part. */
  globs?: string | readonly string[];
  /** `nixl` (default): the names of NIXL's own Prometheus exporter. `otel`: dotted names, UCUM units, seconds. */
  naming?: Naming;
  /**
   * NIXL release whose names and labels the series `agent_*` of naming `nixl` have: `1.0`, `1.2` (1.1, 1.2), `1.3`
   * (1.3.0, 1.3.2), `1.4` (1.3.1, 1.4.0) or `main` (default). Rings of all releases are read in any case.
   */
  nixlRelease?: NixlRelease;
  /**
   * Labels of the series `agent_*` of naming `nixl`. `prometheus` (default): hostname and agent_name.
   * `prometheus_mp`: also pid, agent_instance and local_rank of the agent's process.
   */
  nixlLabels?: NixlLabels;
  /** The label `hostname` of naming `nixl`. Default: os.hostname(). */
  hostname?: string;
  /**
   * 1 to 10000. At most a fifth of the agents' flush interval, or a late drain loses events. Default: 20, or less where the
   * environment's NIXL_TELEMETRY_RUN_INTERVAL is below 100.
   */
  drainIntervalMs?: number;
  /**
   * How long the last values of a dead agent stay, default 30000. Longer than the export interval. Of all who read this
   * agent in this process the longest counts.
   */
  deadTtlMs?: number;
  /** Drops agents whose life cannot be seen after this long without an event. Default: never. */
  idleTtlMs?: number;
  /** Also reads rings on network and FUSE file systems. Default false. */
  force?: boolean;
  /** User ids: only files that one of them owns are read. Default: anyone's. */
  owners?: readonly number[];
  /**
   * Which events are exported: globs over base event names (`agent_tx_bytes`), with commas between them or in an array;
   * `!` in front excludes. Default: the environment's NIXL_TELEMETRY_ENABLED_METRICS, else everything.
   */
  enabledMetrics?: string | readonly string[];
  /** Attributes of one's own on every series of an agent. */
  attributes?: readonly AttributeSpec[];
  /**
   * The variable in an agent's environment that holds its local rank. Default: what this process's environment names in
   * NIXL_TELEMETRY_RANK_ENV, else LOCAL_RANK.
   */
  rankVariable?: string;
  /**
   * Upper bounds, microseconds, in both namings. Default: the environment's NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US, else
   * NIXL's own, 10 us to 10 s.
   */
  durationBoundsUs?: readonly number[];
  /** Upper bounds of single events' histograms, by base event name and in the event's own unit. */
  histogramBounds?: Readonly<Record<string, readonly number[]>>;
  /** Events that NIXL does not know: each gets a custom metric, or adds a status to NIXL's errors. */
  customEvents?: readonly CustomEvent[];
  /**
   * Which metrics are built, in this order: names of built-in builders, and builders of your own. Default: `nixl`,
   * `transfers`, `events`, `custom`, `agents` and `records`.
   */
  builders?: readonly (BuilderName | MetricBuilder)[];
  /** Upper bounds, bytes. */
  sizeBounds?: readonly number[];
  /** Upper bounds, bytes per second. */
  throughputBounds?: readonly number[];
}

export interface NixlInstrumentationConfig extends InstrumentationConfig, NixlOptions {
  /**
   * Only where the instrumentation uses instruments of the API, as with a MeterProvider of another make than OpenTelemetry's
   * SDK. Most series of agents' own per instrument, 20 to 1900 (default): the SDK keeps 2000 per instrument and never forgets
   * one. Agents beyond it are reported together as agent `other`.
   */
  seriesLimit?: number;
  /**
   * Only where `seriesLimit` counts: milliseconds of main-thread time per second for histograms of durations, 1 to 1000,
   * default 10. Beyond it durations are sampled.
   */
  durationBudgetMs?: number;
}

/** What a reader's `selectAggregationTemporality` is; called at every collect, so the reader may be made later. */
export type TemporalitySelector = (instrumentType: InstrumentType) => AggregationTemporality;
export type Temporality = 'cumulative' | 'delta' | TemporalitySelector;

export interface NixlMetricProducerOptions extends NixlOptions {
  /** Of counters and histograms; gauges and up-down counters are always cumulative. Default: cumulative. */
  temporality?: Temporality;
}
