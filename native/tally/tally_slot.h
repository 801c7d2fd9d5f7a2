// A tally and its taps. The agent's lock guards it, except `recovered`, which does not change.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "posix/posix.h"
#include "ring/drain_protocol.h"
#include "tally/event_tap.h"
#include "tally/tally.h"

namespace nixl_otel {

// What earlier processes counted and this one continues.
struct RecoveredCounts {
  Tally tally;
  DrainStats drains;
  double fullMs = 0;
};

struct TallySlot {
  explicit TallySlot(const std::shared_ptr<const TallyPlan>& plan) : tally(plan) {}

  Tally tally;
  // Counts of the agent's rings when the tally began.
  DrainStats earlierDrains;
  Clock::duration earlierFullTime{0};
  std::vector<std::shared_ptr<EventTap>> taps;
  uint32_t users = 0;   // number of sources that use this tally
  bool isKept = false;  // in the agent's state file
  std::shared_ptr<const RecoveredCounts> recovered;
};

}  // namespace nixl_otel
