// Observation of a ring: follows write_pos and changes nothing. A consumer may drain the ring meanwhile.
//
// Limits: a drained slot keeps its bytes until the producer overwrites it one lap later. If more than a lap is between
// two observations, events are missing; an observation reports that if it can see it. An agent that restarts in the
// same file begins again at slot 0. The slots after its write_pos are then from the previous incarnation.

#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ring/ring_file.h"

namespace nixl_otel {

struct Observation {
  RingState state = RingState::kReady;
  std::string reason;
  std::vector<std::byte> slots;  // the events since the last observation, encoded
  const RingLayout* layout = nullptr;
  uint64_t capacity = 0;
  uint64_t pending = 0;    // events in the ring that no consumer has taken
  bool lapped = false;     // the slots before the position changed: events before those of this observation are missing
  bool stalled = false;    // the ring is full and did not change since the last observation: no consumer drains it
  bool restarted = false;  // the agent restarted in this file since the last observation

  size_t count() const { return layout == nullptr ? 0 : slots.size() / layout->slot.size; }
};

class RingObserver {
 public:
  // Begins at the oldest event that no consumer has taken.
  explicit RingObserver(RingFile file);

  Observation observe(size_t most);

 private:
  static constexpr uint32_t kBehind = 4;  // remembered slots before the position
  static constexpr uint32_t kAhead = 64;  // remembered slots from write_pos on

  std::vector<std::byte> slots(const RingLayout& layout, uint64_t capacity, uint64_t position, uint64_t count) const;
  FileChange change() const;
  bool rebuilt(const HeaderFields& header, const FileChange& change) const;
  bool lapped(const HeaderFields& header) const;
  void remember(const HeaderFields& header);

  RingFile file_;
  uint64_t position_ = 0;
  uint64_t lastWrite_ = 0;
  uint64_t lastRead_ = 0;
  bool observed_ = false;
  FileChange lastChange_;
  std::vector<std::byte> behind_;
  uint64_t behindAt_ = 0;
  std::vector<std::byte> ahead_;
};

}  // namespace nixl_otel
