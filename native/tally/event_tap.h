// A bounded queue of raw events, which the collector's thread fills and JavaScript empties. A full queue counts further
// events as overflowed. Metrics do not depend on the tap.
//
// Thread safety: any thread.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "sync/mutex.h"
#include "tally/tally.h"

namespace nixl_otel {

struct TapStats {
  uint64_t seen = 0;
  uint64_t kept = 0;
  uint64_t sampledOut = 0;
  uint64_t overflowed = 0;
};

class EventTap {
 public:
  static constexpr uint32_t kTypes = 64;  // number of bits in TapWants::types

  EventTap(const TapWants& wants, size_t capacity) : wants_(wants), capacity_(capacity) {}

  const TapWants& wants() const { return wants_; }

  void put(const std::vector<TappedEvent>& events) {
    const MutexLock lock(mutex_);
    for (const TappedEvent& event : events) {
      // The batch also has events for other taps. Keys of unknown events have no bit.
      if (!wants_.all && (event.key >= kTypes || (wants_.types >> event.key & 1) == 0)) continue;
      TapStats& stats = stats_[event.key < kTypes ? event.key : kTypes];
      ++stats.seen;
      // Keeps every n-th event of each agent and key, independent of batches. The agent's id shifts the first kept
      // event. Therefore the kept share is also right for many agents with few events each.
      if ((event.ordinal + event.agentId) % keepOneIn_ != 0 || (wants_.first != 0 && event.ordinal > wants_.first)) {
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
    const MutexLock lock(mutex_);
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(most < queue_.size() ? most : queue_.size());
    std::vector<TappedEvent> events(queue_.begin(), end);
    queue_.erase(queue_.begin(), end);
    return events;
  }

  void setSampling(uint64_t keepOneIn) {
    const MutexLock lock(mutex_);
    keepOneIn_ = keepOneIn == 0 ? 1 : keepOneIn;
  }

  TapStats stats() const {
    const MutexLock lock(mutex_);
    TapStats all;
    for (const TapStats& one : stats_) {
      all.seen += one.seen;
      all.kept += one.kept;
      all.sampledOut += one.sampledOut;
      all.overflowed += one.overflowed;
    }
    return all;
  }

  // Returns the counts of one type.
  TapStats statsOf(uint32_t type) const {
    const MutexLock lock(mutex_);
    return stats_[type];
  }

 private:
  mutable Mutex mutex_;
  const TapWants wants_;
  const size_t capacity_;
  uint64_t keepOneIn_ GUARDED_BY(mutex_) = 1;
  std::deque<TappedEvent> queue_ GUARDED_BY(mutex_);
  std::array<TapStats, kTypes + 1> stats_ GUARDED_BY(mutex_){};  // by type; all other keys in the last one
};

}  // namespace nixl_otel
