// Time limits of calls that need a lock of the collector's thread.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "posix.h"

namespace nixl_otel {

class ThreadProgress;

// Time that a call may still wait for the collector's thread, in all its waits together. Work between the waits does
// not count: a snapshot of a thousand agents takes its time and must not fail for that.
struct WaitBudget {
  static constexpr Clock::duration kForEver = Clock::duration::max();
  Clock::duration limit = kForEver;
  Clock::duration left = limit;
  ThreadProgress* progress = nullptr;
  uint64_t step = 0;  // of the thread when the call began

  bool isLimited() const { return limit != kForEver; }
  void spend(Clock::duration waited) { left -= std::min(left, waited); }
  // Records that the budget ran out.
  void noteTimeout() const;
};

// Progress of the collector's thread, which a file system, a debugger or the machine may hold up for any time.
//
// Thread safety: the thread calls advance(), any thread the rest.
class ThreadProgress {
 public:
  // A budget that is empty if an earlier call timed out and the thread has not moved since. So the calls of one turn of
  // an event loop wait once, however many they are.
  WaitBudget budget(Clock::duration limit) {
    const uint64_t step = step_;
    return {limit, heldUpStep_ == step ? Clock::duration{0} : limit, this, step};
  }
  void advance() { ++step_; }

  // A shorter limit proves no hold-up. Nor does a timeout during which the thread moved: its step is then another.
  static constexpr std::chrono::milliseconds kShortestProof{100};

 private:
  friend struct WaitBudget;
  std::atomic<uint64_t> step_{0};
  std::atomic<uint64_t> heldUpStep_{~0ull};
};

inline void WaitBudget::noteTimeout() const {
  if (isLimited() && limit >= ThreadProgress::kShortestProof) progress->heldUpStep_ = step;
}

}  // namespace nixl_otel
