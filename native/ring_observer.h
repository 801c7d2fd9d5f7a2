// Looking on without taking anything: follows write_pos, whoever drains. Best effort: slots that were read keep their
// bytes until the producer comes round, so a look that comes later than a lap misses events, and says so where it can.

#pragma once

#include <string>
#include <vector>

#include "ring_event.h"
#include "ring_file.h"

namespace nixl_otel {

struct Observation {
  RingState state = RingState::kReady;
  std::string reason;
  std::vector<RingEvent> events;
  const RingLayout* layout = nullptr;
  bool lapped = false;   // the slots just before our place changed: events before these are missing
  bool stalled = false;  // full, and nothing moved since the last look: nobody drains it
};

class RingObserver {
 public:
  // Begins at the oldest event that nobody consumed.
  explicit RingObserver(RingFile file);

  Observation look(size_t most);
  const RingFile& file() const { return file_; }

 private:
  static constexpr uint32_t kWitnesses = 4;  // slots before our place whose bytes we remember
  std::vector<std::byte> slots(const RingLayout& layout, uint64_t capacity, uint64_t position, uint64_t count) const;
  void witness(const HeaderFields& header);

  RingFile file_;
  uint64_t place_ = 0;
  uint64_t lastWrite_ = 0;
  uint64_t lastRead_ = 0;
  bool looked_ = false;
  std::vector<std::byte> witnesses_;
  uint64_t witnessAt_ = 0;
};

}  // namespace nixl_otel
