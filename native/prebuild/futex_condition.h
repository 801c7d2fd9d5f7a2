// A condition variable on a futex whose waits may follow any clock. pthread_cond_clockwait exists since glibc 2.30. The
// functions of older versions and of musl take the clock at initialisation, where std::condition_variable sets none.
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

// Requires: the caller holds `mutex`, and holds it again afterwards. `deadline` is on `clock` (CLOCK_MONOTONIC or
// CLOCK_REALTIME); null waits without end. Returns ETIMEDOUT or 0, which may be spurious.
inline int wait(Word* word, pthread_mutex_t* mutex, clockid_t clock, const timespec* deadline) {
  // Relaxed: the mutex orders it. The notifier changes the awaited state under that mutex. Either this thread has seen
  // the change before, or the count moves after this load and the kernel does not let the thread sleep.
  const Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  ::pthread_mutex_unlock(mutex);
  const int operation = FUTEX_WAIT_BITSET_PRIVATE | (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
  const long result = ::syscall(SYS_futex, word, operation, seen, deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
  const bool late = result == -1 && errno == ETIMEDOUT;
  ::pthread_mutex_lock(mutex);
  return late ? ETIMEDOUT : 0;
}

// Wakes all, for a single notification as well: a thread that began to wait later must not use up the wake-up of an
// earlier one.
inline void wake(Word* word) {
  __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

}  // namespace nixl_otel::futex_condition
