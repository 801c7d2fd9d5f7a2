// Events of an agent between two flushes. The mover's thread stages transfers; another thread flushes.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

namespace nixl_otel::transfer_source {

struct StagedEvent {
  uint64_t timestampUs;  // wall clock when it was staged
  uint64_t value;
  uint32_t type;
};

class StagingQueue {
 public:
  // NIXL's queue is unbounded before 1.1. Here it must not exhaust memory: above this many events the mover waits for
  // the next flush (4 Mi events = 96 MiB, twice because the flush has a buffer as well).
  static constexpr uint64_t kMostStaged = 4u << 20;

  // limit 0: unbounded.
  explicit StagingQueue(uint64_t limit) : limit_(limit == 0 ? UINT64_MAX : limit) {
    if (limit != 0) events_.reserve(limit);
  }

  // Stages all of the group or nothing: a full queue never splits a transfer.
  void stage(std::span<const StagedEvent> group) {
    const std::lock_guard lock(mutex_);
    if (events_.size() + group.size() > limit_) {
      dropped_ += group.size();
      droppedSinceFlush_ += group.size();
      return;
    }
    events_.insert(events_.end(), group.begin(), group.end());
    staged_ += group.size();
  }

  // Moves everything staged into `events` and returns how many were dropped since the last call.
  uint64_t takeAll(std::vector<StagedEvent>& events) {
    events.clear();
    uint64_t dropped = 0;
    {
      const std::lock_guard lock(mutex_);
      events_.swap(events);
      std::swap(dropped, droppedSinceFlush_);
    }
    room_.notify_all();
    return dropped;
  }

  // For the unbounded queue. Returns at once below kMostStaged, otherwise when a flush has made room, at `deadline`, or
  // on a stop. One group may exceed kMostStaged.
  void waitForRoom(std::stop_token stop, std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (events_.size() < kMostStaged) return;
    room_.wait_until(lock, stop, deadline, [this] { return events_.size() < kMostStaged; });
  }

  bool unbounded() const { return limit_ == UINT64_MAX; }

  struct Counts {
    uint64_t staged;     // accepted, ever
    uint64_t dropped;    // refused, ever
    uint64_t remaining;  // staged now
  };
  Counts counts() const {
    const std::lock_guard lock(mutex_);
    return {staged_, dropped_, events_.size()};
  }

 private:
  const uint64_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable_any room_;  // _any: the one that a stop_token can wake
  std::vector<StagedEvent> events_;
  uint64_t staged_ = 0;
  uint64_t dropped_ = 0;
  uint64_t droppedSinceFlush_ = 0;
};

}  // namespace nixl_otel::transfer_source
