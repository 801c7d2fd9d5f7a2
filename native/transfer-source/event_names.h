// Names of the events: by type (wire versions 2 and up), and as stored in a slot (version 1).

#pragma once

#include <array>
#include <cstdint>

#include "ring/ring_event.h"

namespace nixl_otel::transfer_source {

struct EventName {
  const char* canonical;  // in wire versions 2 and up; the totals use it for every version
  const char* version1;   // in a slot of wire version 1, at most 31 bytes
  Category category;      // stored by versions 1 and 2
};

// The index is the event type.
inline constexpr std::array<EventName, 21> kEventNames{{
    {"agent_tx_bytes", "agent_tx_bytes", kTransfer},
    {"agent_rx_bytes", "agent_rx_bytes", kTransfer},
    {"agent_tx_requests_num", "agent_tx_requests_num", kTransfer},
    {"agent_rx_requests_num", "agent_rx_requests_num", kTransfer},
    {"agent_memory_registered", "agent_memory_registered", kMemory},
    {"agent_memory_deregistered", "agent_memory_deregistered", kMemory},
    {"agent_xfer_time", "agent_xfer_time", kPerformance},
    {"agent_xfer_post_time", "agent_xfer_post_time", kPerformance},
    {"agent_err_not_posted", "NIXL_ERR_NOT_POSTED", kError},
    {"agent_err_invalid_param", "NIXL_ERR_INVALID_PARAM", kError},
    {"agent_err_backend", "NIXL_ERR_BACKEND", kError},
    {"agent_err_not_found", "NIXL_ERR_NOT_FOUND", kError},
    {"agent_err_mismatch", "NIXL_ERR_MISMATCH", kError},
    {"agent_err_not_allowed", "NIXL_ERR_NOT_ALLOWED", kError},
    {"agent_err_repost_active", "NIXL_ERR_REPOST_ACTIVE", kError},
    {"agent_err_unknown", "NIXL_ERR_UNKNOWN", kError},
    {"agent_err_not_supported", "NIXL_ERR_NOT_SUPPORTED", kError},
    {"agent_err_remote_disconnect", "NIXL_ERR_REMOTE_DISCONNECT", kError},
    {"agent_err_canceled", "NIXL_ERR_CANCELED", kError},
    {"agent_err_no_telemetry", "NIXL_ERR_NO_TELEMETRY", kError},
    // Only wire versions 4 and up: agents of older versions report no dropped events.
    {"agent_telemetry_events_dropped", "agent_telemetry_events_dropped", kSystem},
}};

inline constexpr uint32_t kErrorTypes = 12;  // kFirstError .. 19
static_assert(kFirstError + kErrorTypes == kEventsDropped && kEventNames.size() == kEventsDropped + 1);

}  // namespace nixl_otel::transfer_source
