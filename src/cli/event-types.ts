/** Numbers of the events that commands show by themselves. */
import { EVENTS } from '../mapping/index.js';

export const TX_BYTES = typeOf('agent_tx_bytes');
export const RX_BYTES = typeOf('agent_rx_bytes');
export const TX_REQUESTS = typeOf('agent_tx_requests_num');
export const RX_REQUESTS = typeOf('agent_rx_requests_num');
export const MEMORY_REGISTERED = typeOf('agent_memory_registered');
export const TRANSFER_TIME = typeOf('agent_xfer_time');
export const POST_TIME = typeOf('agent_xfer_post_time');
export const DROPPED = typeOf('agent_telemetry_events_dropped');

function typeOf(event: string): number {
  return EVENTS.findIndex((row) => row.event === event);
}
