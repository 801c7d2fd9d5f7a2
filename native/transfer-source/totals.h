// Totals of one agent over all its lives, and the JSON line that reports them.

#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "event_names.h"

namespace nixl_otel::transfer_source {

__extension__ typedef unsigned __int128 Uint128;  // sums of u64 values cannot wrap in it

struct EventTotals {
  uint64_t count = 0;
  Uint128 sum = 0;
  uint64_t last = 0;
};

// Plain data: with --processes it is in memory that parent and child share. The agent's mover and its flush thread
// write different fields. They are read after both have ended.
//
//   staged = flushed + unflushed          flushed + notices = written + refused
struct AgentTotals {
  pid_t pid = 0;
  bool complete = false;   // the agent ended well; otherwise no field is reliable
  uint64_t staged = 0;     // events that the staging queue took
  uint64_t dropped = 0;    // events that it had no room for
  uint64_t flushed = 0;    // staged events that a flush took out
  uint64_t notices = 0;    // events of type 20 that flushes added
  uint64_t written = 0;    // accepted by the ring
  uint64_t refused = 0;    // refused by a full ring
  uint64_t unflushed = 0;  // still staged when a life ended (--no-final-flush)
  uint64_t wiped = 0;      // in the ring, not yet consumed, when a restart rebuilt it
  uint64_t restarts = 0;
  uint64_t transfersTx = 0;  // transfers with accepted xfer_time, bytes and requests
  uint64_t transfersRx = 0;
  std::array<EventTotals, kEventNames.size()> events{};  // accepted by the ring

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

// Returns one line without a newline. It lists an agent whose process was killed as
// {"agent","path","pid","wireVersion","complete":false} and adds it to no total.
std::string totalsJson(const std::vector<AgentReport>& reports, int32_t wireVersion, double seconds);

}  // namespace nixl_otel::transfer_source
