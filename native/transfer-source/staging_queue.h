// Events of an agent between two flushes.
//
// Thread safety: any thread. The agent's thread stages events, and the flush thread takes them.

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
  uint64_t timestampUs;  // wall clock at the time of staging
  uint64_t value;
  uint32_t type;
};

class StagingQueue {
 public:
  // Limit of an unbounded queue, as NIXL's is before 1.1. With more events the agent waits for the next flush, so that
  // the queue does not exhaust memory: 4 Mi events are 96 MiB, and the flush has a buffer of the same size.
  static constexpr uint64_t kMostStaged = 4u << 20;

  // `limit` is a number of events. 0: unbounded.
  explicit StagingQueue(uint64_t limit) : limit_(limit == 0 ? UINT64_MAX : limit) {
    if (limit != 0) events_.reserve(limit);
  }

  // Stages all events of the group, or drops all: a full queue never splits a transfer.
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

  // Moves all staged events into `events`. Returns the number of events dropped since the last call.
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

  // Waits while an unbounded queue has kMostStaged events or more: until a flush, `deadline` or a stop. (One group may
  // exceed kMostStaged.)
  void waitForRoom(std::stop_token stop, std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (events_.size() < kMostStaged) return;
    room_.wait_until(lock, stop, deadline, [this] { return events_.size() < kMostStaged; });
  }

  bool unbounded() const { return limit_ == UINT64_MAX; }

  struct Counts {
    uint64_t staged;     // since the creation of the queue
    uint64_t dropped;    // since the creation of the queue
    uint64_t remaining;  // in the queue now
  };
  Counts counts() const {
    const std::lock_guard lock(mutex_);
    return {staged_, dropped_, events_.size()};
  }

 private:
  const uint64_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable_any room_;  // _any: its waits accept a stop_token
  std::vector<StagedEvent> events_;
  uint64_t staged_ = 0;
  uint64_t dropped_ = 0;
  uint64_t droppedSinceFlush_ = 0;
};

}  // namespace nixl_otel::transfer_source
