// Time limits of calls that need a lock which the collector's thread may hold.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "posix/posix.h"

namespace nixl_otel {

class ThreadProgress;

// Time that a call may still wait for the collector's thread, over all of its waits. Work between the waits does not
// count: a snapshot of a thousand agents takes long and must not fail for that reason.
struct WaitBudget {
  static constexpr Clock::duration kForEver = Clock::duration::max();
  Clock::duration limit = kForEver;
  Clock::duration left = limit;
  ThreadProgress* progress = nullptr;
  uint64_t step = 0;  // of the collector's thread when the call began

  bool isLimited() const { return limit != kForEver; }
  void spend(Clock::duration waited) { left -= std::min(left, waited); }
  // Records that the budget ran out.
  void noteTimeout() const;
};

// Progress of the collector's thread. A file system, a debugger or the machine may hold this thread up for any time.
//
// Thread safety: the collector's thread calls advance(); any thread may call the other methods.
class ThreadProgress {
 public:
  // Returns a budget. It is empty if an earlier call timed out and the collector's thread has not advanced since.
  // Therefore many calls in one turn of an event loop wait only once.
  WaitBudget budget(Clock::duration limit) {
    const uint64_t step = step_;
    return {limit, heldUpStep_ == step ? Clock::duration{0} : limit, this, step};
  }
  void advance() { ++step_; }

  // Shortest limit whose timeout shows that the thread is held up. A timeout during which the thread advanced does not
  // show it either; then the step differs.
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
