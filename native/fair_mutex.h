// A mutex that goes to those who wait for it in the order in which they came, and a wait for it may have an end.
//
// The collector's thread takes an agent's lock again as soon as it has let go of it, as long as the ring has more. Of a
// std::mutex a thread that waits would be woken each time to find it taken.

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace nixl_otel {

// For std::unique_lock and std::lock_guard. The time limits need a steady clock only.
class FairMutex {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    if (takeFree()) return;
    Waiter own;
    waiters_.push_back(&own);
    own.woken.wait(guard, [&] { return own.isOwner; });
  }

  bool try_lock() {
    const std::lock_guard guard(mutex_);
    return takeFree();
  }

  bool try_lock_until(std::chrono::steady_clock::time_point end) {
    std::unique_lock guard(mutex_);
    if (takeFree()) return true;
    Waiter own;
    waiters_.push_back(&own);
    if (own.woken.wait_until(guard, end, [&] { return own.isOwner; })) return true;
    std::erase(waiters_, &own);
    return false;
  }

  void unlock() {
    const std::lock_guard guard(mutex_);
    isTaken_ = !waiters_.empty();
    if (!isTaken_) return;
    Waiter& next = *waiters_.front();
    waiters_.erase(waiters_.begin());
    next.isOwner = true;
    next.woken.notify_one();  // with `guard` held: the waiter lives on the stack of a thread that needs it to go on
  }

 private:
  struct Waiter {
    std::condition_variable woken;
    bool isOwner = false;
  };

  // mutex_ is held.
  bool takeFree() {
    if (isTaken_) return false;
    return isTaken_ = true;
  }

  std::mutex mutex_;  // of what is below; held for a moment only
  bool isTaken_ = false;
  std::vector<Waiter*> waiters_;  // the one that has waited longest first
};

}  // namespace nixl_otel
