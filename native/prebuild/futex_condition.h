// A condition variable on a futex, whose waits may follow any clock. pthread_cond_clockwait came with glibc 2.30, and
// what older ones and musl have instead wants the clock at initialisation, which std::condition_variable does not do.
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

// Counts notifications. Zero at first, as PTHREAD_COND_INITIALIZER is.
using Word = uint32_t;

// `mutex` is held by the caller, before and after. `until`: on `clock` (CLOCK_MONOTONIC or CLOCK_REALTIME), or null for
// ever. Returns 0, also for no reason, or ETIMEDOUT.
inline int wait(Word* word, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  // Relaxed: the mutex orders it. Who notifies changed what we wait for under that mutex, so either we saw the change
  // before we came here, or the count moves after this load and the kernel does not let us sleep.
  const Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  ::pthread_mutex_unlock(mutex);
  const int operation = FUTEX_WAIT_BITSET_PRIVATE | (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
  const long result = ::syscall(SYS_futex, word, operation, seen, until, nullptr, FUTEX_BITSET_MATCH_ANY);
  const bool late = result == -1 && errno == ETIMEDOUT;
  ::pthread_mutex_lock(mutex);
  return late ? ETIMEDOUT : 0;
}

// All, also where one is asked for: whoever began to wait meanwhile must not take the turn of one who waited already.
inline void wake(Word* word) {
  __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

}  // namespace nixl_otel::futex_condition
