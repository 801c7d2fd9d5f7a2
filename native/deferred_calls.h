// Calls of other threads that timed out at a lock and that the collector's thread makes at its next step.

#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "collector_locks.h"
#include "mutex.h"
#include "wait_budget.h"

namespace nixl_otel {

// Thread safety: any thread. The lock is held for a few instructions, and is acquired after any other lock.
class DeferredCalls {
 public:
  // Runs with the collector's lock held.
  using Call = std::function<void(WaitBudget&)>;

  // True if the thread will make the call; false if no thread runs, which then holds no lock either.
  bool add(Call call) {
    const MutexLock lock(mutex_);
    if (isOpen_) calls_.push_back(std::move(call));
    return isOpen_;
  }
  bool isEmpty() const {
    const MutexLock lock(mutex_);
    return calls_.empty();
  }

  // --- by the thread, or before it runs ---

  void open() {
    const MutexLock lock(mutex_);
    isOpen_ = true;
  }
  // False if there are calls left.
  bool close() {
    const MutexLock lock(mutex_);
    isOpen_ = !calls_.empty();
    return !isOpen_;
  }
  std::vector<Call> take() {
    const MutexLock lock(mutex_);
    return std::exchange(calls_, {});
  }

 private:
  mutable Mutex mutex_;
  bool isOpen_ GUARDED_BY(mutex_) = false;
  std::vector<Call> calls_ GUARDED_BY(mutex_);
};

}  // namespace nixl_otel
