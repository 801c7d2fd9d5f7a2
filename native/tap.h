// Raw events on their way to JavaScript: a bounded queue that the collector's thread fills and JavaScript empties.
// What does not fit is counted; metrics do not depend on it.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "tally.h"

namespace nixl_otel {

struct TapStats {
  uint64_t seen = 0;
  uint64_t kept = 0;
  uint64_t sampledOut = 0;
  uint64_t overflowed = 0;
};

class Tap {
 public:
  static constexpr uint32_t kTypes = 64;  // known types, which TapWants has bits for

  Tap(const TapWants& wants, size_t capacity) : wants_(wants), capacity_(capacity) {}

  const TapWants& wants() const { return wants_; }

  void put(const std::vector<TappedEvent>& events) {
    const std::lock_guard lock(mutex_);
    for (const TappedEvent& event : events) {
      // What another tap asked for: its bits are of known types only, so they take no other key for one.
      if (!wants_.all && (event.key >= kTypes || (wants_.types >> event.key & 1) == 0)) continue;
      TapStats& stats = stats_[event.key < kTypes ? event.key : kTypes];
      ++stats.seen;
      // Every n-th of each agent and key, whatever batches they came in and whatever lies between them. The agent's id
      // shifts where that begins: of many agents with few events each, as many are kept.
      if ((event.ordinal + event.agentId) % keepOneIn_ != 0) {
        ++stats.sampledOut;
      } else if (queue_.size() >= capacity_) {
        ++stats.overflowed;
      } else {
        ++stats.kept;
        queue_.push_back(event);
      }
    }
  }

  std::vector<TappedEvent> take(size_t most) {
    const std::lock_guard lock(mutex_);
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(most < queue_.size() ? most : queue_.size());
    std::vector<TappedEvent> events(queue_.begin(), end);
    queue_.erase(queue_.begin(), end);
    return events;
  }

  void setSampling(uint64_t keepOneIn) {
    const std::lock_guard lock(mutex_);
    keepOneIn_ = keepOneIn == 0 ? 1 : keepOneIn;
  }

  TapStats stats() const {
    const std::lock_guard lock(mutex_);
    TapStats all;
    for (const TapStats& one : stats_) {
      all.seen += one.seen;
      all.kept += one.kept;
      all.sampledOut += one.sampledOut;
      all.overflowed += one.overflowed;
    }
    return all;
  }

  // Counts of one known type.
  TapStats statsOf(uint32_t type) const {
    const std::lock_guard lock(mutex_);
    return stats_[type];
  }

 private:
  mutable std::mutex mutex_;
  const TapWants wants_;
  const size_t capacity_;
  uint64_t keepOneIn_ = 1;
  std::deque<TappedEvent> queue_;
  std::array<TapStats, kTypes + 1> stats_{};  // by type; all other keys in the last one
};

}  // namespace nixl_otel
