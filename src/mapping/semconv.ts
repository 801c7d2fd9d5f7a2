/**
 * Names of the metrics and attributes that this package defines. Metrics of the event table have them in naming `otel`;
 * in naming `nixl` they have NIXL's names, `agent_*`. Those belong to NIXL, vary by its release, and are listed in EVENTS.
 * All other metrics have the same names in both namings. Attributes have these names in naming `otel`.
 */

/** Counter, By. Bytes transferred by completed requests. */
export const METRIC_NIXL_TRANSFER_IO = 'nixl.transfer.io' as const;
/** Gauge, By. Size of the most recently completed transfer. */
export const METRIC_NIXL_TRANSFER_LAST_SIZE = 'nixl.transfer.last.size' as const;
/** Counter, {request}. Completed transfer requests. */
export const METRIC_NIXL_TRANSFER_REQUESTS = 'nixl.transfer.requests' as const;
/** Counter, s. Total transfer time. */
export const METRIC_NIXL_TRANSFER_TIME = 'nixl.transfer.time' as const;
/** Gauge, s. Duration of the most recent transfer. */
export const METRIC_NIXL_TRANSFER_LAST_DURATION = 'nixl.transfer.last.duration' as const;
/** Histogram, s. Transfer duration from start to completion. */
export const METRIC_NIXL_TRANSFER_DURATION = 'nixl.transfer.duration' as const;
/** Counter, s. Total time to post transfers. */
export const METRIC_NIXL_TRANSFER_POST_TIME = 'nixl.transfer.post.time' as const;
/** Gauge, s. Time to post the most recent transfer. */
export const METRIC_NIXL_TRANSFER_LAST_POST_DURATION = 'nixl.transfer.last.post.duration' as const;
/** Histogram, s. Time to post a transfer to the backend. */
export const METRIC_NIXL_TRANSFER_POST_DURATION = 'nixl.transfer.post.duration' as const;
/** Histogram, By. Size of each finished transfer. */
export const METRIC_NIXL_TRANSFER_SIZE = 'nixl.transfer.size' as const;
/** Histogram, By/s. Bytes of each transfer divided by its duration. */
export const METRIC_NIXL_TRANSFER_THROUGHPUT = 'nixl.transfer.throughput' as const;
/** Histogram, s. Duration of transfers of known direction, from start to completion. */
export const METRIC_NIXL_TRANSFER_DIRECTED_DURATION = 'nixl.transfer.directed.duration' as const;
/** Histogram, s. Duration of transfers of known direction by the size of the whole request. */
export const METRIC_NIXL_TRANSFER_SIZE_CLASS_DURATION = 'nixl.transfer.size_class.duration' as const;
/** Histogram, s. Time to post transfers of known direction by the size of the whole request. */
export const METRIC_NIXL_TRANSFER_SIZE_CLASS_POST_DURATION = 'nixl.transfer.size_class.post.duration' as const;
/** Gauge, s. Time of a transfer that does not depend on its size, in the last minute, as the application saw it. */
export const METRIC_NIXL_TRANSFER_BASE_TIME = 'nixl.transfer.base.time' as const;
/** Gauge, By/s. Rate that large transfers approach, in the last minute, as the application saw it. */
export const METRIC_NIXL_TRANSFER_ASYMPTOTIC_RATE = 'nixl.transfer.asymptotic.rate' as const;
/** Gauge, 1. Share of the time of transfers that posting took in the last minute. */
export const METRIC_NIXL_TRANSFER_POST_SHARE = 'nixl.transfer.post.share' as const;
/** Gauge, 1. How many times as long as usual transfers of the same size take, apart from a longer time of posting. */
export const METRIC_NIXL_TRANSFER_SLOWDOWN = 'nixl.transfer.slowdown' as const;
/** Gauge, 1. How many times as long as usual posting transfers of the same size takes. */
export const METRIC_NIXL_POST_SLOWDOWN = 'nixl.post.slowdown' as const;
/** Counter, By. Memory registered. */
export const METRIC_NIXL_MEMORY_REGISTERED = 'nixl.memory.registered' as const;
/** Gauge, By. Size of the most recent registration. */
export const METRIC_NIXL_MEMORY_LAST_REGISTERED = 'nixl.memory.last.registered' as const;
/** Counter, By. Memory deregistered. */
export const METRIC_NIXL_MEMORY_DEREGISTERED = 'nixl.memory.deregistered' as const;
/** Gauge, By. Size of the most recent deregistration. */
export const METRIC_NIXL_MEMORY_LAST_DEREGISTERED = 'nixl.memory.last.deregistered' as const;
/** UpDownCounter, By. Memory registered and not yet deregistered. */
export const METRIC_NIXL_MEMORY_USAGE = 'nixl.memory.usage' as const;
/** Gauge, {agent}. 1 if memory events were missed, so that the memory usage may be wrong. */
export const METRIC_NIXL_MEMORY_APPROXIMATE = 'nixl.memory.approximate' as const;
/** Counter, {error}. Failed operations by NIXL status. */
export const METRIC_NIXL_ERRORS = 'nixl.errors' as const;
/** Counter, {event}. Events that the agent reports as dropped before they reached its ring. */
export const METRIC_NIXL_TELEMETRY_EVENTS_DROPPED = 'nixl.telemetry.events.dropped' as const;

/** Counter, {event}. Events read from the ring. */
export const METRIC_NIXL_EVENTS = 'nixl.events' as const;
/** Counter, {event}. Events of types that are not in the event table. */
export const METRIC_NIXL_EVENTS_UNKNOWN = 'nixl.events.unknown' as const;
/** Counter. Sum of event values. */
export const METRIC_NIXL_EVENT_VALUE = 'nixl.event.value' as const;
/** Gauge. Value of the most recent event. */
export const METRIC_NIXL_EVENT_LAST = 'nixl.event.last' as const;
/** Histogram. Values of performance events without a dedicated metric. */
export const METRIC_NIXL_EVENT_DISTRIBUTION = 'nixl.event.distribution' as const;

/** Gauge, {agent}. 1, by engine, instance, role, ranks and ways of the agent, as far as they are known. */
export const METRIC_NIXL_AGENT_INFO = 'nixl.agent.info' as const;
/** Gauge, {agent}. 1 while the agent's process is seen to live, 0 once it has ended; absent if that cannot be seen. */
export const METRIC_NIXL_AGENT_UP = 'nixl.agent.up' as const;
/** Gauge, s. Time since the agent's last event. */
export const METRIC_NIXL_AGENT_IDLE = 'nixl.agent.idle' as const;
/** Counter, {restart}. Restarts of the agent under the same name. */
export const METRIC_NIXL_AGENT_RESTARTS = 'nixl.agent.restarts' as const;
/** Gauge, 1. Highest fill ratio of the ring in the last 15 to 30 s. */
export const METRIC_NIXL_RING_UTILIZATION = 'nixl.ring.utilization' as const;
/** Counter, {drain}. Drains that found the ring full: the agent may have lost events. */
export const METRIC_NIXL_RING_FULL = 'nixl.ring.full' as const;
/** Counter, s. Upper bound on the time the ring was full. */
export const METRIC_NIXL_RING_FULL_TIME = 'nixl.ring.full_time' as const;
/** Counter, {resync}. Read position resynchronisations (restart, corruption, other consumer). */
export const METRIC_NIXL_RING_RESYNCS = 'nixl.ring.resyncs' as const;
/** Counter, {move}. Read position changes by other consumers. */
export const METRIC_NIXL_RING_FOREIGN_MOVES = 'nixl.ring.foreign_moves' as const;
/** Counter, {event}. Events lost, at least: reported as dropped by the agent, or refused by its full ring. */
export const METRIC_NIXL_RING_LOST = 'nixl.ring.lost' as const;
/** Gauge, {process}. Processes that can write the ring, as far as they are seen. */
export const METRIC_NIXL_RING_WRITERS = 'nixl.ring.writers' as const;
/** Gauge, {ring}. 1 if the agent's metrics may be wrong. */
export const METRIC_NIXL_RING_SUSPECT = 'nixl.ring.suspect' as const;

/** Counter, s, builder `time`. Total transfer time; concurrent transfers add up. */
export const METRIC_NIXL_TIME_TRANSFER = 'nixl.time.transfer' as const;
/** Counter, s, builder `time`. Total time to post transfers. */
export const METRIC_NIXL_TIME_POST = 'nixl.time.post' as const;
/** Gauge, 1, builder `time`. Transfer time per elapsed time since the previous collection; above 1 if transfers overlap. */
export const METRIC_NIXL_TIME_BUSY = 'nixl.time.busy' as const;
/** Gauge, By/s, builder `time`. Bytes transferred per second since the previous collection. */
export const METRIC_NIXL_TIME_THROUGHPUT = 'nixl.time.throughput' as const;
/** Gauge, s, builder `time`. Transfer time since midnight UTC. */
export const METRIC_NIXL_TIME_TODAY = 'nixl.time.today' as const;

/** Gauge, 1. Share of the durations since the previous collect that reach the histograms; 1 without durations. */
export const METRIC_NIXL_DURATION_SAMPLED_RATIO = 'nixl.duration.sampled_ratio' as const;
/** Counter, {event}. Durations by outcome: recorded in a histogram, left out by sampling, or lost. */
export const METRIC_NIXL_DURATION_EVENTS = 'nixl.duration.events' as const;

/** Counter, {tick}. Passes of the collector thread over its rings. */
export const METRIC_NIXL_COLLECTOR_TICKS = 'nixl.collector.ticks' as const;
/** Counter, {tick}. Ticks that began more than one drain interval late. */
export const METRIC_NIXL_COLLECTOR_LATE_TICKS = 'nixl.collector.late_ticks' as const;
/** Gauge, s. Longest time between the beginnings of two ticks, without waits for the first ring. */
export const METRIC_NIXL_COLLECTOR_LAG_MAX = 'nixl.collector.lag.max' as const;
/** UpDownCounter, {agent}. Agents with an attached ring by life, exported or not. */
export const METRIC_NIXL_COLLECTOR_AGENTS = 'nixl.collector.agents' as const;
/** UpDownCounter, {file}. Skipped files, deleted rings of living agents, directories without rings, space or sight of lives, and rings without a usable state file, by state. */
export const METRIC_NIXL_COLLECTOR_PROBLEMS = 'nixl.collector.problems' as const;
/** UpDownCounter, By. Space of a directory: free, of which rings of living agents lack a part, and allocated for rings and state files. */
export const METRIC_NIXL_COLLECTOR_SPACE = 'nixl.collector.space' as const;
/** Gauge, {agent}. Further agents for whose rings a directory has space. */
export const METRIC_NIXL_COLLECTOR_SPACE_AGENTS = 'nixl.collector.space.agents' as const;
/** Gauge, {build}. 1, by the version of serve and that of Node.js. */
export const METRIC_NIXL_OTEL_BUILD_INFO = 'nixl.otel.build_info' as const;
/** Counter, {export}. Exports of serve by exporter and result. A page of /metrics is an export of the exporter prometheus. */
export const METRIC_NIXL_EXPORTER_EXPORTS = 'nixl.exporter.exports' as const;
/** Counter, s. Total time of the exports of serve by exporter: to make a page, or to send what was collected. */
export const METRIC_NIXL_EXPORTER_TIME = 'nixl.exporter.time' as const;
/** Counter, {failure}. Failed exports of serve by exporter, and errors that an exporter threw outside of an export. */
export const METRIC_NIXL_EXPORTER_FAILURES = 'nixl.exporter.failures' as const;
/** Counter, {refusal}. Requests and connections that serve refused because of its web configuration, the host that they named or a limit, by reason. */
export const METRIC_NIXL_HTTP_REFUSALS = 'nixl.http.refusals' as const;
/** Gauge, {file}. 1 if files of the web configuration have changed and cannot be used. */
export const METRIC_NIXL_HTTP_CONFIG_STALE = 'nixl.http.config.stale' as const;
/** Gauge, s. End of the validity of the certificate that serve shows, in seconds since the epoch. */
export const METRIC_NIXL_HTTP_CERTIFICATE_EXPIRY = 'nixl.http.certificate.expiry' as const;
/** Gauge, {finding}. What serve finds wrong or notes about the agents now, by kind and level: alarm or note. */
export const METRIC_NIXL_FINDINGS = 'nixl.findings' as const;

/** Counter, {event}. Events for custom builders, by outcome: delivered or lost. Other metrics lose no events. */
export const METRIC_NIXL_BUILDERS_EVENTS = 'nixl.builders.events' as const;
/** Counter, {event}, builder `comprehensive`. Events of agents and records, with all configured attributes. */
export const METRIC_NIXL_COMPREHENSIVE_EVENTS = 'nixl.comprehensive.events' as const;
/** Counter, {record}, builder `records`. Records by action and outcome: pass, fail or user_error. */
export const METRIC_NIXL_RECORDS = 'nixl.records' as const;
/** Counter, {record}, builder `records`. Records by version, action and outcome. */
export const METRIC_NIXL_RECORDS_VERSIONS = 'nixl.records.versions' as const;
/** Counter, {record}, builder `records`. Records by network, action and outcome. */
export const METRIC_NIXL_RECORDS_NETWORKS = 'nixl.records.networks' as const;
/** Counter, s, builder `records`. Duration of the recorded jobs by action. */
export const METRIC_NIXL_RECORDS_TIME = 'nixl.records.time' as const;
/** Counter, {gpu}, builder `records`. GPUs named in records, by model. */
export const METRIC_NIXL_RECORDS_GPUS = 'nixl.records.gpus' as const;
/** Counter, s, builder `records`. GPU-seconds of records, by model. */
export const METRIC_NIXL_RECORDS_GPU_TIME = 'nixl.records.gpu.time' as const;

/** Name of the agent; `agent_name` in naming `nixl`. */
export const ATTR_NIXL_AGENT_NAME = 'nixl.agent.name' as const;
/** Directory of the ring, for agents with equal names, and of `nixl.collector.space`; `ring_directory` in naming `nixl`. */
export const ATTR_NIXL_RING_DIRECTORY = 'nixl.ring.directory' as const;
/** NIXL's category of an event, as `NIXL_TELEMETRY_TRANSFER`; `category` in naming `nixl`. */
export const ATTR_NIXL_EVENT_CATEGORY = 'nixl.event.category' as const;
/** Name of an event, as `agent_tx_bytes`; `event` in naming `nixl`. */
export const ATTR_NIXL_EVENT_NAME = 'nixl.event.name' as const;
/** `transmit` or `receive`; `direction` in naming `nixl`. */
export const ATTR_NIXL_TRANSFER_DIRECTION = 'nixl.transfer.direction' as const;
/** Largest size of a class in bytes, inclusive, or `+Inf`; `up_to_bytes` in naming `nixl`. */
export const ATTR_NIXL_TRANSFER_UP_TO_BYTES = 'nixl.transfer.up_to_bytes' as const;
/** `alive`, `dead` or `unknown`; `life` in naming `nixl`. */
export const ATTR_NIXL_AGENT_LIFE = 'nixl.agent.life' as const;
/** Engine of `nixl.agent.info`, as `vllm`; `engine` in naming `nixl`. */
export const ATTR_NIXL_AGENT_ENGINE = 'nixl.agent.engine' as const;
/** Name for people, as `vllm :8100 decode TP1`; `display_name` in naming `nixl`. */
export const ATTR_NIXL_AGENT_DISPLAY_NAME = 'nixl.agent.display_name' as const;
/** Part of the engine that owns the agent, as `connector`; `part` in naming `nixl`. */
export const ATTR_NIXL_AGENT_PART = 'nixl.agent.part' as const;
/** Port of the engine's instance, as `:8100`; `engine_instance` in naming `nixl`. */
export const ATTR_NIXL_AGENT_INSTANCE = 'nixl.agent.instance' as const;
/** Model that the instance serves; `model` in naming `nixl`. */
export const ATTR_NIXL_AGENT_MODEL = 'nixl.agent.model' as const;
/** `prefill`, `decode`, `encode`, `sender` or `receiver`; `role` in naming `nixl`. */
export const ATTR_NIXL_AGENT_ROLE = 'nixl.agent.role' as const;
/** Rank in data parallelism; `dp_rank` in naming `nixl`. */
export const ATTR_NIXL_AGENT_RANK_DP = 'nixl.agent.rank.dp' as const;
/** Rank in pipeline parallelism; `pp_rank` in naming `nixl`. */
export const ATTR_NIXL_AGENT_RANK_PP = 'nixl.agent.rank.pp' as const;
/** Rank in tensor parallelism; `tp_rank` in naming `nixl`. */
export const ATTR_NIXL_AGENT_RANK_TP = 'nixl.agent.rank.tp' as const;
/** Rank in expert parallelism; `ep_rank` in naming `nixl`. */
export const ATTR_NIXL_AGENT_RANK_EP = 'nixl.agent.rank.ep' as const;
/** All ranks in one text, as `DP0 TP1`; `ranks` in naming `nixl`. */
export const ATTR_NIXL_AGENT_RANKS = 'nixl.agent.ranks' as const;
/** Way of the bytes that the agent wrote, as `rdma by mlx5_0/1`; `way_tx` in naming `nixl`. */
export const ATTR_NIXL_AGENT_WAY_TX = 'nixl.agent.way.tx' as const;
/** Way of the bytes that the agent read, as `tcp by eth0`; `way_rx` in naming `nixl`. */
export const ATTR_NIXL_AGENT_WAY_RX = 'nixl.agent.way.rx' as const;
/** State of a file or directory in `nixl.collector.problems`; `state` in naming `nixl`. */
export const ATTR_NIXL_RING_STATE = 'nixl.ring.state' as const;
/** `free`, `lacking`, `live`, `ended` or `state`; `use` in naming `nixl`. */
export const ATTR_NIXL_SPACE_USE = 'nixl.space.use' as const;
/** `recorded`, `sampled_out` or `lost`; `outcome` in naming `nixl`. */
export const ATTR_NIXL_DURATION_OUTCOME = 'nixl.duration.outcome' as const;
/** Exporter of `nixl.exporter.exports` and its siblings; `exporter` in naming `nixl`. */
export const ATTR_NIXL_EXPORTER_NAME = 'nixl.exporter.name' as const;
/** `success` or `failed`; `result` in naming `nixl`. */
export const ATTR_NIXL_EXPORT_RESULT = 'nixl.export.result' as const;
/** Reason of `nixl.http.refusals`; `reason` in naming `nixl`. */
export const ATTR_NIXL_HTTP_REFUSAL_REASON = 'nixl.http.refusal.reason' as const;
/** Kind of `nixl.findings`, as `slow-transfers`; `kind` in naming `nixl`. */
export const ATTR_NIXL_FINDING_KIND = 'nixl.finding.kind' as const;
/** `alarm` or `note`; `level` in naming `nixl`. */
export const ATTR_NIXL_FINDING_LEVEL = 'nixl.finding.level' as const;
