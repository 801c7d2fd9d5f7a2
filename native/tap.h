// Raw events on their way to JavaScript: a bounded queue that the collector's thread fills and JavaScript empties.
// What does not fit is counted; metrics do not depend on it.

#pragma once

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
  Tap(const TapWants& wants, size_t capacity) : wants_(wants), capacity_(capacity) {}

  const TapWants& wants() const { return wants_; }

  void put(const std::vector<TappedEvent>& events) {
    const std::lock_guard lock(mutex_);
    for (const TappedEvent& event : events) {
      // What another tap asked for: its bits are of known types only, so they take no other key for one.
      if (!wants_.all && (event.key >= 64 || (wants_.types >> event.key & 1) == 0)) continue;
      // Evenly: every n-th of those seen, whatever batches they came in.
      if (stats_.seen++ % keepOneIn_ != 0) {
        ++stats_.sampledOut;
      } else if (queue_.size() >= capacity_) {
        ++stats_.overflowed;
      } else {
        ++stats_.kept;
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
    return stats_;
  }

 private:
  mutable std::mutex mutex_;
  const TapWants wants_;
  const size_t capacity_;
  uint64_t keepOneIn_ = 1;
  std::deque<TappedEvent> queue_;
  TapStats stats_;
};

}  // namespace nixl_otel
