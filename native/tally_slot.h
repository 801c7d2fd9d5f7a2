// A tally and its taps. The agent's lock guards it, except `recovered`, which does not change.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "event_tap.h"
#include "tally.h"

namespace nixl_otel {

struct TallySlot {
  explicit TallySlot(const std::shared_ptr<const TallyPlan>& plan) : tally(plan) {}

  Tally tally;
  std::vector<std::shared_ptr<EventTap>> taps;
  uint32_t users = 0;                      // number of sources that use this tally
  bool isKept = false;                     // in the agent's state file
  std::shared_ptr<const Tally> recovered;  // sums of earlier processes, which `tally` continues
};

}  // namespace nixl_otel
