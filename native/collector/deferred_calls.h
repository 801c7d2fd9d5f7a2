// Calls of other threads that timed out at a lock. The collector's thread makes them at its next step.

#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "collector/collector_locks.h"
#include "sync/mutex.h"
#include "sync/wait_budget.h"

namespace nixl_otel {

// Thread safety: any thread. The mutex is held for a few instructions and is acquired after all other locks.
class DeferredCalls {
 public:
  // Runs with collectorMutex held.
  using Call = std::function<void(WaitBudget&)>;

  // True if the thread will make the call. False if no thread runs; then no thread holds the locks either.
  bool add(Call call) {
    const MutexLock lock(mutex_);
    if (isOpen_) calls_.push_back(std::move(call));
    return isOpen_;
  }
  bool isEmpty() const {
    const MutexLock lock(mutex_);
    return calls_.empty();
  }

  // --- Only the collector's thread, or the thread that starts it. ---

  void open() {
    const MutexLock lock(mutex_);
    isOpen_ = true;
  }
  // False if calls are left; then it stays open.
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
