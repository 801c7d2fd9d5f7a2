// One ring, opened for draining. Not thread-safe: one thread at a time. Knows no Node-API, so that sanitizers and
// fuzzers run it alone.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "drain_protocol.h"
#include "ring_file.h"

namespace nixl_otel {

// Room for one chunk of any wire version. One per draining thread.
class ChunkBuffer {
 public:
  ChunkBuffer() : bytes_(DrainProtocol<int>::kChunkSlots * kMaxSlotBytes) {}
  std::byte* data() { return bytes_.data(); }

 private:
  std::vector<std::byte> bytes_;
};

// How long a drain may take over what is not as it was.
enum class Patience : uint8_t {
  kNone,      // not at all: what needs a pause ends with kSettling or kRestless
  kRecovers,  // some pauses of half a millisecond, but none for a new ring: that ends with kSettling
  kSettles,   // for a new ring, too
};

struct DrainResult {
  DrainOutcome outcome = DrainOutcome::kEmpty;
  RingState state = RingState::kReady;  // kWaiting: why
  uint64_t events = 0;
};

class RingReader {
 public:
  struct Chunk {
    const RingLayout& layout;  // how the slots lie in memory
    const std::byte* slots;
    uint32_t count;
    bool gapBefore;        // somebody else took events that stood before these
    bool gapAfter;         // the ring was full: the producer may have left out events after these
    uint32_t incarnation;  // how often the agent had come back when these were written
  };
  using Sink = std::function<void(const Chunk&)>;

  // On anything but kReady, `reason` says why and there is no reader.
  static std::unique_ptr<RingReader> open(const std::string& path, bool force, RingState& state, std::string& reason,
                                          const Owners& owners = std::nullopt);

  ~RingReader();

  // Takes up to `budget` events that the ring holds.
  DrainResult drain(uint64_t budget, ChunkBuffer& buffer, const Sink& sink, Patience patience = Patience::kSettles);

  // Takes the mark away, so that the header is as it was found. Nothing is drained after this.
  void detach();

  const RingLayout& layout() const { return *layout_; }
  uint64_t capacity() const { return capacity_; }
  FileId id() const { return file_.id; }
  int fd() const { return file_.fd.get(); }
  // Events that the last drain left in the ring, and those that it found there.
  uint64_t pending() const { return protocol_.pending(); }
  uint64_t fill() const { return protocol_.fill(); }
  DrainStats stats() const;
  // The read_pos that this reader found when it opened the ring: not 0 when events were consumed before.
  uint64_t firstReadPos() const { return firstReadPos_; }
  const std::string& reason() const { return reason_; }
  bool unlinked() const;

  // What DrainProtocol asks of a ring.
  HeaderLook inspect();
  int32_t loadVersion();
  int32_t loadMark();
  uint64_t loadWritePos();
  uint64_t loadReadPos();
  bool swapMark(int32_t from, int32_t to);
  bool swapReadPos(uint64_t from, uint64_t to);
  uint32_t readSlots(uint64_t position, uint32_t count, std::byte* out);
  bool pauseForRebuild(bool mayReturn);

 private:
  explicit RingReader(RingFile file);
  bool attach(const HeaderFields& header);
  bool touchable();
  bool relay();
  uint32_t readStraight(uint64_t position, uint32_t count, std::byte* out) const;
  bool readLap(uint64_t position, uint32_t count, std::byte* out) const;
  template <typename T>
  std::atomic_ref<T> field(uint32_t offset) const;

  RingFile file_;
  const RingLayout* layout_ = nullptr;
  uint64_t capacity_ = 0;
  uint64_t firstReadPos_ = 0;
  DrainProtocol<RingReader> protocol_;
  DrainStats before_;  // what the protocol objects before this one counted
  RingState waitingFor_ = RingState::kReady;
  std::string reason_;
  Patience patience_ = Patience::kSettles;
  int64_t pauseFromNs_ = 0;  // the last look, or the mark if that came later
};

}  // namespace nixl_otel
