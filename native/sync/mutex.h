// std::mutex and its lock, with the thread safety annotations that libstdc++ lacks.

#pragma once

#include <mutex>

#include "sync/thread_annotations.h"

namespace nixl_otel {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() RELEASE() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  // The lock for std::condition_variable, whose wait returns with the mutex locked again.
  std::unique_lock<std::mutex>& waitable() { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace nixl_otel
