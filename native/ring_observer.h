// Looking on without taking anything: follows write_pos, whoever drains. Best effort: slots that were read keep their
// bytes until the producer comes round, so a look that comes later than a lap misses events, and says so where it can.
// An agent that restarts in its file begins again at slot 0; what lies behind that place is then old.

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
  std::vector<std::byte> slots;  // the events since the last look, as they lie in the ring
  const RingLayout* layout = nullptr;
  uint64_t capacity = 0;
  uint64_t pending = 0;    // events in the ring that nobody consumed
  bool lapped = false;     // the slots just before our place changed: events before these are missing
  bool stalled = false;    // full, and nothing moved since the last look: nobody drains it
  bool restarted = false;  // the agent came back in this file since the last look

  size_t count() const { return layout == nullptr ? 0 : slots.size() / layout->slot.size; }
  std::vector<RingEvent> events() const;
};

class RingObserver {
 public:
  // Begins at the oldest event that nobody consumed.
  explicit RingObserver(RingFile file);

  Observation look(size_t most);
  const RingFile& file() const { return file_; }

 private:
  static constexpr uint32_t kWitnesses = 4;  // slots before our place whose bytes we remember
  static constexpr uint32_t kAhead = 64;     // and from where the producer stands
  using FileTime = std::pair<int64_t, int64_t>;

  std::vector<std::byte> slots(const RingLayout& layout, uint64_t capacity, uint64_t position, uint64_t count) const;
  FileTime changeTime() const;
  bool rebuilt(const HeaderFields& header, const FileTime& changed) const;
  bool overtaken(const HeaderFields& header) const;
  void remember(const HeaderFields& header);

  RingFile file_;
  uint64_t place_ = 0;
  uint64_t lastWrite_ = 0;
  uint64_t lastRead_ = 0;
  bool looked_ = false;
  FileTime lastChange_{};
  std::vector<std::byte> witnesses_;
  uint64_t witnessAt_ = 0;
  std::vector<std::byte> ahead_;
};

}  // namespace nixl_otel
