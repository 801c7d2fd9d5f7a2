/** Makes the fields of an agent's model that follow from its events alone. Pure. */
import type { AgentTally, EventTally } from '../../ground/tally.js';
import { eventOfType, EVENTS } from '../../mapping/events.js';

const TYPES = new Map(EVENTS.map(({ event, type }) => [event, type]));

/** Returns the status that NIXL's event of a failed operation is about. */
export function statusOf(event: string): string {
  return event.replace('agent_err_', '');
}

/** Returns the fields that follow from the events of an agent alone. */
export function fieldsOf(tally: AgentTally) {
  const { events, memoryInUse, transfers } = tally;
  const tallyOf = (event: string): EventTally | undefined => eventOfType(tally, TYPES.get(event)!);
  const sum = (event: string): number => Number(tallyOf(event)?.sum ?? 0n);
  return {
    txBytes: sum('agent_tx_bytes'),
    rxBytes: sum('agent_rx_bytes'),
    txRequests: sum('agent_tx_requests_num'),
    rxRequests: sum('agent_rx_requests_num'),
    transferUs: sum('agent_xfer_time'),
    postUs: sum('agent_xfer_post_time'),
    memoryBytes: Number(memoryInUse),
    registeredBytes: sum('agent_memory_registered'),
    dropped: sum('agent_telemetry_events_dropped'),
    events: events.reduce((all, { count }) => all + count, 0),
    transferTimesUs: tallyOf('agent_xfer_time')?.histogram?.exponential,
    postTimesUs: tallyOf('agent_xfer_post_time')?.histogram?.exponential,
    txSizes: transfers.transmit.size.exponential,
    rxSizes: transfers.receive.size.exponential,
  };
}
