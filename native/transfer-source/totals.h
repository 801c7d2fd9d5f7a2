// Totals of one agent over all of its incarnations, and the JSON line that reports them.

#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "event_names.h"

namespace nixl_otel::transfer_source {

__extension__ typedef unsigned __int128 Uint128;  // for sums of u64 values, which cannot wrap in it

struct EventTotals {
  uint64_t count = 0;
  Uint128 sum = 0;
  uint64_t last = 0;
};

// Plain data, because with --processes it lies in memory that parent and children share.
//
// Thread safety: the agent's thread and its flush thread write different fields. Other threads read the fields after
// both have ended.
//
// Invariants, after the end of an agent:
//   staged = flushed + unflushed
//   flushed + notices = written + refused
struct AgentTotals {
  pid_t pid = 0;
  bool complete = false;   // the agent ended well; otherwise no field is reliable
  uint64_t staged = 0;     // events that the staging queue accepted
  uint64_t dropped = 0;    // events that the full staging queue dropped
  uint64_t flushed = 0;    // staged events that a flush took
  uint64_t notices = 0;    // events of type 20 that flushes added
  uint64_t written = 0;    // events that the ring accepted
  uint64_t refused = 0;    // events that the full ring refused
  uint64_t unflushed = 0;  // events still staged at the end of an incarnation (--no-final-flush)
  uint64_t wiped = 0;      // pending events in the ring when a restart rebuilt it
  uint64_t restarts = 0;
  uint64_t transfersTx = 0;  // transfers with accepted xfer_time, bytes and requests
  uint64_t transfersRx = 0;
  std::array<EventTotals, kEventNames.size()> events{};  // events that the ring accepted, by type

  void countEvent(uint32_t type, uint64_t value) {
    EventTotals& event = events[type];
    event.count++;
    event.sum += value;
    event.last = value;
  }
  void add(const AgentTotals& other);
};

struct AgentReport {
  std::string agent;
  std::string path;
  AgentTotals totals;
};

std::string decimal(Uint128 value);

// Returns one line of JSON without a newline. An agent whose process was killed has only
// {"agent","path","pid","wireVersion","complete":false}, and counts in no total.
std::string totalsJson(const std::vector<AgentReport>& reports, int32_t wireVersion, double seconds);

}  // namespace nixl_otel::transfer_source
