// Passive observation of a ring: follows write_pos and takes nothing, whichever consumer drains.
//
// Limits: drained slots keep their bytes until the producer laps them. An observation more than a lap after the
// last one misses events, and reports that where it can. An agent that restarts in its file begins again at slot 0.
// Then the slots after its write_pos are old.

#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ring_event.h"
#include "ring_file.h"

namespace nixl_otel {

struct Observation {
  RingState state = RingState::kReady;
  std::string reason;
  std::vector<std::byte> slots;  // the events since the last observation, encoded
  const RingLayout* layout = nullptr;
  uint64_t capacity = 0;
  uint64_t pending = 0;    // events in the ring that are not consumed
  bool lapped = false;     // the slots just before the position changed: events before these are missing
  bool stalled = false;    // full and unmoved since the last observation: no consumer drains it
  bool restarted = false;  // the agent restarted in this file since the last observation

  size_t count() const { return layout == nullptr ? 0 : slots.size() / layout->slot.size; }
  std::vector<RingEvent> events() const;
};

class RingObserver {
 public:
  // Begins at the oldest event that is not consumed.
  explicit RingObserver(RingFile file);

  Observation observe(size_t most);
  const RingFile& file() const { return file_; }

 private:
  static constexpr uint32_t kBehind = 4;  // remembered slots before the position
  static constexpr uint32_t kAhead = 64;  // remembered slots from write_pos on
  using FileTime = std::pair<int64_t, int64_t>;

  std::vector<std::byte> slots(const RingLayout& layout, uint64_t capacity, uint64_t position, uint64_t count) const;
  FileTime changeTime() const;
  bool rebuilt(const HeaderFields& header, const FileTime& changed) const;
  bool lapped(const HeaderFields& header) const;
  void remember(const HeaderFields& header);

  RingFile file_;
  uint64_t position_ = 0;
  uint64_t lastWrite_ = 0;
  uint64_t lastRead_ = 0;
  bool observed_ = false;
  FileTime lastChange_{};
  std::vector<std::byte> behind_;
  uint64_t behindAt_ = 0;
  std::vector<std::byte> ahead_;
};

}  // namespace nixl_otel
