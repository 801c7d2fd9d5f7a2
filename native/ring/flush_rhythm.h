// Time between two flushes of an agent, learnt from the times at which its ring had new events.
//
// An agent without transfers flushes nothing, so a time between two flushes is a multiple of the interval, and the
// shortest of the last ones is the best guess. A drain may find half of a flush, and a later one the rest: therefore
// the second shortest counts. Before there are three, the setting of the agent's process counts.
//
// Thread safety: none. At most one thread at a time may use it.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "posix/posix.h"

namespace nixl_otel {

class FlushRhythm {
 public:
  // Notes a drain that took events, or found none.
  void note(bool found, Clock::time_point now) {
    if (found && quiet_) {
      if (last_ != Clock::time_point{}) gaps_[count_++ % kKept] = now - last_;
      last_ = now;
    }
    quiet_ = !found;
  }
  // `setting`: that of the agent's process, 0 if it is unknown.
  void expect(Clock::duration setting) { setting_ = setting; }
  bool isLearnt() const { return count_ >= kLeast; }
  // Returns 0 while it is not known.
  Clock::duration interval() const {
    if (!isLearnt()) return setting_;
    auto kept = gaps_;
    const auto end = kept.begin() + static_cast<std::ptrdiff_t>(std::min(count_, kKept));
    std::nth_element(kept.begin(), kept.begin() + 1, end);
    return kept[1];
  }

 private:
  static constexpr size_t kLeast = 3;
  static constexpr size_t kKept = 8;
  std::array<Clock::duration, kKept> gaps_{};
  size_t count_ = 0;
  Clock::duration setting_{};
  Clock::time_point last_{};
  bool quiet_ = true;
};

}  // namespace nixl_otel
