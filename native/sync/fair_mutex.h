// A mutex that serves threads in the order of their arrival, and a lock whose wait has a time limit.
//
// While a ring has a backlog, the collector's thread locks its agent again right after it unlocked it. With a
// std::mutex a waiting thread would wake up each time and find the mutex locked again.

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "sync/mutex.h"
#include "sync/thread_annotations.h"
#include "sync/wait_budget.h"

namespace nixl_otel {

// Works with std::lock_guard and std::condition_variable_any. Trivially destructible: collectorMutex is a global, and
// threads may still use it while the process exits.
class CAPABILITY("mutex") FairMutex {
 public:
  void lock() ACQUIRE() {
    MutexLock guard(mutex_);
    if (takeIfFree()) return;
    Waiter self;
    append(self);
    self.woken.wait(guard.waitable(), [&] { return self.isOwner; });
  }

  bool try_lock() TRY_ACQUIRE(true) {
    const MutexLock guard(mutex_);
    return takeIfFree();
  }

  bool try_lock_until(Clock::time_point end) TRY_ACQUIRE(true) {
    MutexLock guard(mutex_);
    if (takeIfFree()) return true;
    Waiter self;
    append(self);
    if (self.woken.wait_until(guard.waitable(), end, [&] { return self.isOwner; })) return true;
    remove(self);
    return false;
  }

  void unlock() RELEASE() {
    const MutexLock guard(mutex_);
    isTaken_ = first_ != nullptr;
    if (!isTaken_) return;
    Waiter& next = *first_;
    first_ = next.next;
    next.isOwner = true;
    next.woken.notify_one();  // with `guard` held: afterwards the waiting thread returns, and `next` is on its stack
  }

 private:
  struct Waiter {
    std::condition_variable woken;
    bool isOwner = false;
    Waiter* next = nullptr;
  };

  bool takeIfFree() REQUIRES(mutex_) {
    if (isTaken_) return false;
    return isTaken_ = true;
  }

  void append(Waiter& waiter) REQUIRES(mutex_) {
    Waiter** end = &first_;
    while (*end != nullptr) end = &(*end)->next;
    *end = &waiter;
  }

  void remove(Waiter& waiter) REQUIRES(mutex_) {
    Waiter** at = &first_;
    while (*at != &waiter) at = &(*at)->next;
    *at = waiter.next;
  }

  Mutex mutex_;  // held for a few instructions
  bool isTaken_ GUARDED_BY(mutex_) = false;
  Waiter* first_ GUARDED_BY(mutex_) = nullptr;  // the longest waiting thread
};

class SCOPED_CAPABILITY FairLock {
 public:
  explicit FairLock(FairMutex& mutex) ACQUIRE(mutex) : mutex_(mutex), isHeld_(true) { mutex_.lock(); }
  FairLock(FairMutex& mutex, std::defer_lock_t) EXCLUDES(mutex) : mutex_(mutex) {}
  ~FairLock() RELEASE() {
    if (isHeld_) mutex_.unlock();
  }
  FairLock(const FairLock&) = delete;
  FairLock& operator=(const FairLock&) = delete;

  void lock() ACQUIRE() {
    mutex_.lock();
    isHeld_ = true;
  }
  void unlock() RELEASE() {
    isHeld_ = false;
    mutex_.unlock();
  }
  // Acquires the mutex. False if the budget ran out first.
  bool lockWithin(WaitBudget& budget) TRY_ACQUIRE(true) {
    isHeld_ = mutex_.try_lock();
    if (isHeld_) return true;
    if (!budget.isLimited()) {
      lock();
      return true;
    }
    const Clock::time_point begin = Clock::now();
    isHeld_ = mutex_.try_lock_until(begin + budget.left);
    budget.spend(Clock::now() - begin);
    if (!isHeld_) budget.noteTimeout();
    return isHeld_;
  }

 private:
  FairMutex& mutex_;
  bool isHeld_ = false;
};

}  // namespace nixl_otel
