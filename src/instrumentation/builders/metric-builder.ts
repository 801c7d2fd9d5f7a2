/** Interface of metric builders, built-in and custom. */
import type { Meter } from '@opentelemetry/api';
import type { Attributes } from '../../mapping/index.js';

/** One event as an agent wrote it. */
export interface AgentEvent {
  readonly agent: string;
  /** The base name (`agent_tx_bytes`), the name of an event that NIXL does not know, or `type_` and its number. */
  readonly event: string;
  /** NIXL's word: `NIXL_TELEMETRY_TRANSFER`. */
  readonly category: string;
  /** Bytes, microseconds, requests, ... depending on the event; exact to 2^53. */
  readonly value: number;
  readonly exact: bigint;
  /** Milliseconds since the Unix epoch: the event's own time in wire version 1, otherwise the time of the drain. */
  readonly timeMs: number;
  /** Configured attributes of the agent. */
  readonly attributes: Attributes;
}

/** Gain of one kind of event of one agent since the last collect. */
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

/** Report of the service itself, such as a finished job. It may have any fields. */
export type EventRecord = Readonly<Record<string, unknown>>;

/**
 * All calls are made on the main thread, in the order of the builders. An error or a rejected promise is reported once per
 * builder, and the other builders continue. No promise is awaited.
 */
export interface MetricBuilder {
  readonly name: string;
  /** Creates the instruments. Called once per meter, before any other method. */
  create(meter: Meter): void;
  /** Receives every event of all agents in batches, ordered per agent. Costs main-thread time per event. */
  take?(events: readonly AgentEvent[]): void;
  /** Receives the gains from the native tally at each collect: costs nothing per event. */
  observe?(gains: readonly EventGain[]): void;
  /** Receives a record. `attributes`: the configured attributes of this record. */
  process?(record: EventRecord, attributes: Attributes): void;
  /** Called last. */
  close?(): void;
}
