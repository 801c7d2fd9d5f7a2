/** Builders of metrics: the names of the built-in ones, and the interface of custom ones. */
import type { Meter } from '@opentelemetry/api';
import { type Attributes, TALLY_BUILDERS, type TallyBuilderName } from '../mapping/index.js';

/** Built-in builders that count by themselves. The others read their metrics from the tally. */
export const COUNTING_BUILDERS = ['comprehensive', 'comprehensive_names', 'records'] as const;
export type BuilderName = TallyBuilderName | (typeof COUNTING_BUILDERS)[number];
export const BUILDER_NAMES: readonly BuilderName[] = [...TALLY_BUILDERS, ...COUNTING_BUILDERS];

/** One event as an agent wrote it. */
export interface AgentEvent {
  readonly agent: string;
  /** The base name (`agent_tx_bytes`), the name of an event that NIXL does not know, or `type_` and its number. */
  readonly event: string;
  /** NIXL's name, such as `NIXL_TELEMETRY_TRANSFER`. */
  readonly category: string;
  /** Bytes, microseconds, requests, ... by event; exact to 2^53. */
  readonly value: number;
  readonly exact: bigint;
  /** Milliseconds since the Unix epoch: the event's time in wire version 1, otherwise the time of the drain. */
  readonly timeMs: number;
  /** Configured attributes of the agent. */
  readonly attributes: Attributes;
}

/** Increase of one kind of event of one agent since the previous collect. */
export interface EventGain {
  readonly agent: string;
  readonly event: string;
  readonly category: string;
  /** Number of new events. */
  readonly count: number;
  /** Sum of their values. */
  readonly sum: bigint;
  readonly attributes: Attributes;
}

/** Facts about a job or request that a service reports itself. A record may have any fields. */
export type EventRecord = Readonly<Record<string, unknown>>;

/**
 * Makes metrics of events, gains or records. All calls run on the main thread, in the order of the builders. If a call throws or
 * its promise rejects, the error is reported once, and the other builders continue. Promises are not awaited.
 */
export interface MetricBuilder {
  readonly name: string;
  /** Makes the instruments: once for each meter, before any other call. */
  create(meter: Meter): void;
  /** Takes every event of all agents, in batches and in the order of each agent. Costs main-thread time per event. */
  take?(events: readonly AgentEvent[]): void;
  /** Takes the gains of the native tally at each collect. Costs no time per event. */
  observe?(gains: readonly EventGain[]): void;
  /** Takes a record. `attributes`: the configured attributes, computed from this record. */
  process?(record: EventRecord, attributes: Attributes): void;
  /** Ends the builder: no other call follows. */
  close?(): void;
}
