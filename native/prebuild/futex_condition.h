// A condition variable on a futex. Each wait chooses its clock. Reason: pthread_cond_clockwait exists only since glibc
// 2.30. Older versions and musl choose the clock at initialisation, and std::condition_variable sets none there.
#pragma once

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

namespace nixl_otel::futex_condition {

// Counts notifications. Zero at first, like PTHREAD_COND_INITIALIZER.
using Word = uint32_t;

// Waits for wake() until `deadline` on `clock` (CLOCK_MONOTONIC or CLOCK_REALTIME), or without end if it is nullptr.
// Releases `mutex` during the wait. Returns ETIMEDOUT or 0, which may be spurious.
//
// Requires: the caller holds `mutex`.
inline int wait(Word* word, pthread_mutex_t* mutex, clockid_t clock, const timespec* deadline) {
  // Relaxed, because the mutex orders this load: the notifier changes the awaited state under the mutex. Either this
  // thread has seen the change already, or wake() increments the count after this load. In the second case the kernel
  // finds another count and does not put the thread to sleep.
  const Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  ::pthread_mutex_unlock(mutex);
  const int operation = FUTEX_WAIT_BITSET_PRIVATE | (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
  const long result = ::syscall(SYS_futex, word, operation, seen, deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
  const bool late = result == -1 && errno == ETIMEDOUT;
  ::pthread_mutex_lock(mutex);
  return late ? ETIMEDOUT : 0;
}

// Wakes all waiting threads, also for a single notification: a thread that began to wait later must not take the
// wake-up of an earlier one.
inline void wake(Word* word) {
  __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

}  // namespace nixl_otel::futex_condition
