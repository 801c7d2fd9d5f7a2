// A producer, a consumer and an attacker take turns on one file. Before the attacker's first step on a ring each event
// must count once, in order, with its value. After that step every count is allowed, but nothing may crash. After a
// restart in place the counts must be exact again.

#include "fuzzing.h"
#include "ring/ring_writer.h"

using namespace nixl_otel;

namespace {

class World {
 public:
  World() { ::unlink(path_.c_str()); }

  void step(Input& input) {
    switch (input.byte() % 16) {
      case 0:
      case 1:
      case 2:
        return push(1 + input.byte() % 32);
      case 3:
      case 4:
      case 5:
        return drain(UINT64_MAX);
      case 6:
        return drain(1 + input.byte());
      case 7:
      case 8:
        return rebuild(input.byte());
      case 9:
        return replace(input.byte());
      case 10:
        reader_.reset();
        return;
      case 11:
        return truncate(input.word());
      case 12:
        return store(input.byte(), input.byte());
      case 13:
        return storeWord(input.byte(), input.word());
      case 14:
        if (input.byte() % 2 == 0) ::unlink(path_.c_str());
        return;
      default:
        return storeWord(16 + 4 * (input.byte() % 2), input.byte() % 8);
    }
  }

  void end() {
    drain(UINT64_MAX);
    EXPECT(countOf(tally_) == counted_);
  }

 private:
  void push(uint64_t events) {
    // Skips the push if the file was truncated: the producer's mapping would fault, as in an agent.
    struct stat info;
    if (!writer_.open() || damaged_ || ::stat(path_.c_str(), &info) != 0) return;
    for (uint64_t i = 0; i < events; ++i) {
      RingEvent event;
      event.type = static_cast<uint32_t>(nextValue_ % 25);
      event.category = static_cast<int32_t>(nextValue_ % 8);
      event.setName("agent_tx_bytes");
      event.value = nextValue_;
      if (!writer_.push(event)) return;
      if (intact_) expected_.push_back(nextValue_);
      ++nextValue_;
    }
  }

  void drain(uint64_t budget) {
    if (reader_ == nullptr) {
      RingState state{};
      std::string reason;
      reader_ = RingReader::open(path_, false, state, reason);
      EXPECT((reader_ == nullptr) == (state != RingState::kReady));
      if (reader_ == nullptr) return;
    }
    uint64_t events = 0;
    const DrainResult result = reader_->drain(budget, buffer_, [&](const RingReader::Chunk& chunk) {
      events += chunk.count;
      for (uint32_t i = 0; i < chunk.count; ++i) check(chunk, i);
      tally_.fold(chunk, {}, tapped_);
    });
    EXPECT(result.events == events);
    EXPECT(events <= budget);
    counted_ += events;
    if (reader_->unlinked()) reader_.reset();
    if (fresh_ && result.outcome != DrainOutcome::kWaiting) {
      fresh_ = false;
      intact_ = !damaged_;
    }
    if (intact_ && budget == UINT64_MAX && reader_ != nullptr) EXPECT(checked_ == expected_.size());
  }

  void check(const RingReader::Chunk& chunk, uint32_t i) {
    const SlotLayout& slot = chunk.layout.slot;
    const RingEvent event = decodeSlot(slot, chunk.slots + size_t{i} * slot.size);
    if (!intact_) return;
    EXPECT(checked_ < expected_.size());
    EXPECT(event.value == expected_[checked_]);
    ++checked_;
  }

  // The agent restarts in place and wipes the pending events. By assumption B of the protocol it pushes only after the
  // next drain.
  void rebuild(uint8_t choice) {
    writer_.close();
    const int32_t version = kFirstVersion + choice % (kLastVersion - kFirstVersion + 1);
    const uint64_t capacity = uint64_t{1} << (1 + choice / 5 % 8);
    EXPECT(writer_.create(path_, version, capacity).empty());
    damaged_ = false;
    intact_ = false;
    fresh_ = true;
    expected_.clear();
    checked_ = 0;
    drain(UINT64_MAX);
    // A second drain, because the first may have found bytes of the attacker and returned without an event.
    drain(UINT64_MAX);
    EXPECT(reader_ != nullptr && intact_);
  }

  void replace(uint8_t choice) {
    ::unlink(path_.c_str());
    reader_.reset();
    rebuild(choice);
  }

  void damage() {
    damaged_ = true;
    intact_ = fresh_ = false;
  }

  void truncate(uint64_t size) {
    damage();
    const off_t sizes[] = {0, 1, 17, 39, 40, 511, 512, 4096, 1 << 20, off_t{1} << 40};
    if (::truncate(path_.c_str(),
                   size % 2 == 0 ? sizes[size / 2 % std::size(sizes)] : static_cast<off_t>(size % 5000))) {
      return;
    }
  }

  void store(uint8_t offset, uint8_t value) { storeBytes(offset, &value, 1); }
  void storeWord(uint8_t offset, uint64_t value) {
    storeBytes(offset % 64, reinterpret_cast<const uint8_t*>(&value), offset % 2 == 0 ? 8 : 4);
  }
  void storeBytes(off_t offset, const uint8_t* bytes, size_t count) {
    damage();
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    EXPECT(::pwrite(fd, bytes, count, offset) == static_cast<ssize_t>(count));
    ::close(fd);
  }

  const std::string path_ = fuzzFile();
  RingWriter writer_;
  std::unique_ptr<RingReader> reader_;
  static inline ChunkBuffer buffer_;
  Tally tally_{fuzzPlan()};
  std::vector<TappedEvent> tapped_;
  std::vector<uint64_t> expected_;  // since the ring's creation
  size_t checked_ = 0;
  uint64_t counted_ = 0;
  uint64_t nextValue_ = 1;
  bool intact_ = false;   // no step of the attacker since the ring's creation
  bool fresh_ = false;    // created, but not drained yet
  bool damaged_ = false;  // after a step of the attacker
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  World world;
  for (int steps = 0; steps < 200 && !input.empty(); ++steps) world.step(input);
  world.end();
  return 0;
}
