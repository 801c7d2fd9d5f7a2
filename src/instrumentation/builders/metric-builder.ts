/** What a builder of metrics is: the built-in ones that count, and anyone's own. */
import type { Meter } from '@opentelemetry/api';
import type { Attributes } from '../../mapping/index.js';

/** One event as an agent wrote it. */
export interface AgentEvent {
  readonly agent: string;
  /** The base name (`agent_tx_bytes`), the name of an event that NIXL does not know, or `type_` and its number. */
  readonly event: string;
  /** NIXL's word: `NIXL_TELEMETRY_TRANSFER`. */
  readonly category: string;
  /** Bytes, microseconds, requests, ... by event; exact to 2^53. */
  readonly value: number;
  readonly exact: bigint;
  /** Milliseconds since the Unix epoch: the event's own time in wire version 1, else when it was drained. */
  readonly timeMs: number;
  /** The configured ones of the agent. */
  readonly attributes: Attributes;
}

/** What one kind of event of one agent gained since the last look. */
export interface EventGain {
  readonly agent: string;
  readonly event: string;
  readonly category: string;
  /** How many events came on top. */
  readonly count: number;
  /** What their values add up to. */
  readonly sum: bigint;
  readonly attributes: Attributes;
}

/** Something that a service tells itself, such as a job that ended. Any fields; the builder knows which it wants. */
export type EventRecord = Readonly<Record<string, unknown>>;

/**
 * All calls come on the main thread, in the order of the builders. One that throws is reported once and passed over; the
 * others go on. So is one that returns a promise that rejects; no promise is waited for.
 */
export interface MetricBuilder {
  readonly name: string;
  /** Makes the instruments: once for each meter, before anything else. */
  create(meter: Meter): void;
  /** Every event of all agents, some of them at a time; in the order of each agent. Costs main-thread time per event. */
  take?(events: readonly AgentEvent[]): void;
  /** At each collect, from the native tally: costs nothing per event. */
  observe?(gains: readonly EventGain[]): void;
  /** `attributes`: the configured ones, of this record. */
  process?(record: EventRecord, attributes: Attributes): void;
  /** No more calls come. */
  close?(): void;
}
