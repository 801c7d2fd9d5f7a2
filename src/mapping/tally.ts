/**
 * What this room reads: one agent's tally, as plain numbers. The bridge's AgentSnapshot has this shape; it is declared
 * again here because mapping and shm-bridge do not know each other. Times ending in `Ms` are milliseconds since the epoch.
 */

/** Counts per bucket: `counts[i]` holds values <= `bounds[i]`, the last count everything above. */
export interface Buckets {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

/** What one kind of event added up to. */
export interface EventReading {
  readonly type?: number;
  readonly name?: string;
  /** NIXL's category number. */
  readonly category: number;
  readonly known: boolean;
  readonly overflow: boolean;
  readonly count: number;
  readonly sum: bigint;
  readonly last: bigint;
  /** Microseconds. */
  readonly histogram?: Buckets;
}

/** Finished transfers of one direction: bytes, microseconds, bytes per second. */
export interface TransferReading {
  readonly count: number;
  readonly size: Buckets & { readonly sum: bigint };
  readonly duration: Buckets & { readonly sum: bigint };
  readonly throughput: Buckets & { readonly sum: number };
}

export interface AgentReading {
  readonly id: number;
  readonly agent: string;
  readonly directory: string;
  readonly life: 'alive' | 'dead' | 'unknown';
  readonly pid?: number;
  readonly startTimeMs: number;
  readonly lastEventMs?: number;
  readonly exported: boolean;
  readonly capacity: number;
  readonly peakPending: number;
  readonly foundFull: number;
  readonly foundFullMs: number;
  readonly restarts: number;
  readonly resyncs: number;
  readonly foreignMoves: number;
  readonly suspect: boolean;
  readonly memoryInUse: bigint;
  readonly memoryApproximate: boolean;
  /** Known types first, in the order of their numbers, then what turned up. */
  readonly events: readonly EventReading[];
  readonly transfers: { readonly transmit: TransferReading; readonly receive: TransferReading };
}

/** The agent's tally of one known type. Undefined only if the source was opened with another event table. */
export function eventOfType(agent: AgentReading, type: number): EventReading | undefined {
  const atItsPlace = agent.events[type];
  if (atItsPlace?.type === type) return atItsPlace;
  return agent.events.find((event) => event.type === type);
}

/** Whether two readings, of one agent at two times, are of the same event. */
export function sameEvent(a: EventReading, b: EventReading): boolean {
  return a.type === b.type && a.name === b.name && a.category === b.category && a.overflow === b.overflow;
}

/** The reading in `agent` of the event that stands at `index` elsewhere: at the same place, as a rule. */
export function eventLike(agent: AgentReading, index: number, event: EventReading): EventReading | undefined {
  const atItsPlace = agent.events[index];
  if (atItsPlace !== undefined && sameEvent(atItsPlace, event)) return atItsPlace;
  return agent.events.find((other) => sameEvent(other, event));
}

/** The sum over all events that match. */
export function sumWhere({ events }: AgentReading, matches: (event: EventReading) => boolean): bigint {
  let sum = 0n;
  for (const event of events) if (matches(event)) sum += event.sum;
  return sum;
}
