// One ring, opened for draining.
//
// Thread safety: none. At most one thread at a time may use a reader.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ring/drain_protocol.h"
#include "ring/header_look.h"
#include "ring/ring_file.h"

namespace nixl_otel {

// Buffer for one chunk of any wire version. Each thread that drains needs one.
class ChunkBuffer {
 public:
  ChunkBuffer() : bytes_(DrainProtocol<int>::kChunkSlots * kMaxSlotBytes) {}
  std::byte* data() { return bytes_.data(); }

 private:
  std::vector<std::byte> bytes_;
};

// Pauses that a drain may take.
enum class PausePolicy : uint8_t {
  kNever,        // none: a ring that needs a pause returns kSettling or kNeedsPause
  kForRecovery,  // a few pauses of half a millisecond; a new ring returns kSettling
  kAlways,       // also for a new ring
};

struct DrainResult {
  DrainOutcome outcome = DrainOutcome::kEmpty;
  RingState state = RingState::kReady;  // cause of kWaiting
  uint64_t events = 0;
};

struct Chunk {
  const RingLayout& layout;  // encoding of the slots
  const std::byte* slots;
  uint32_t count;
  bool gapBefore;        // a foreign consumer took events before these
  bool gapAfter;         // the ring was full: the producer may have dropped events after these
  uint32_t incarnation;  // number of restarts that this consumer and those before it noticed before these events
};

// Keeps what a drain takes, and where it stands. A journal that outlives the process lets the next consumer go on
// there.
class DrainJournal {
 public:
  virtual ~DrainJournal() = default;
  // Adds the chunk and keeps the record, both or neither. From its return on the events count.
  virtual void commit(const Chunk& chunk, const DrainRecord& record) = 0;
  // Keeps the record of a place that was reached without a chunk: a new incarnation, a foreign move, a gap.
  virtual void commit(const DrainRecord& record) = 0;
  // Keeps that the last swap is known to have hit the marked ring. Nothing else has changed since the last commit.
  virtual void rest(const DrainRecord& record) = 0;
};

// What a consumer knows of a ring of which it holds the lock.
struct Recalled {
  std::string notYet;                 // why the ring must not be opened now, but later; "": it may be opened
  bool keepsState = false;            // there is state, or it begins with the first commit
  std::optional<DrainRecord> record;  // that the last consumer with state left
};

class RingReader {
 public:
  using Chunk = nixl_otel::Chunk;
  using Sink = std::function<void(const Chunk&)>;
  using Recall = std::function<Recalled(const RingFileId&)>;

  // Returns nullptr and sets `reason` unless it sets `state` to kReady. `recall` is called once the file is locked;
  // nullptr: the consumer has no state. A consumer with state does not take away its mark at its end, see
  // drain_protocol.h.
  static std::unique_ptr<RingReader> open(const std::string& path, bool force, RingState& state, std::string& reason,
                                          const Owners& owners = std::nullopt, const Recall& recall = nullptr);

  ~RingReader();

  // Takes up to `budget` events that the ring holds.
  DrainResult drain(uint64_t budget, ChunkBuffer& buffer, DrainJournal& journal,
                    PausePolicy pauses = PausePolicy::kAlways);
  // The same for a consumer without state.
  DrainResult drain(uint64_t budget, ChunkBuffer& buffer, const Sink& sink, PausePolicy pauses = PausePolicy::kAlways);

  // Removes the mark, which restores the header. A consumer with state does this when it lets its record go.
  //
  // Requires: no drain follows.
  void detach();
  // Removes the mark, unless it must stay at the end of this consumer. The destructor does the same.
  //
  // Requires: no drain follows.
  void leave();

  const RingLayout& layout() const { return *layout_; }
  uint64_t capacity() const { return capacity_; }
  FileId id() const { return file_.id.file; }
  const RingFileId& lastingId() const { return file_.id; }
  int fd() const { return file_.fd.get(); }
  // Events that the last drain found in the ring.
  uint64_t foundAtDrain() const { return protocol_.foundAtDrain(); }
  // A look that finds whether the next drain would do anything. nullopt while it would in any case. It is valid until
  // the next drain.
  std::optional<HeaderLook> restingLook() const;
  // nullptr while a rebuilt ring comes to rest: its mark is new, but the positions are still those of the last one.
  const DrainRecord* record() const { return protocol_.attached() ? &protocol_.record() : nullptr; }
  const DrainStats& stats() const { return protocol_.stats(); }
  // read_pos when the ring was opened: not 0 if events were consumed before.
  uint64_t firstReadPos() const { return firstReadPos_; }
  const std::string& reason() const { return reason_; }
  bool unlinked() const;

  // Methods of DrainProtocol's `Ring`.
  HeaderPeek inspect();
  int32_t loadVersion();
  int32_t loadMark();
  uint64_t loadWritePos();
  uint64_t loadReadPos();
  bool swapMark(int32_t from, int32_t to);
  bool swapReadPos(uint64_t from, uint64_t to);
  uint32_t readSlots(uint64_t position, uint32_t count, std::byte* out);
  void noteTime();
  bool pausedSinceNote() const;
  bool pauseForRebuild(bool mayReturn);

 private:
  explicit RingReader(RingFile file);
  bool attach(bool keepsState, const std::optional<DrainRecord>& record);
  bool ensureMapped();
  bool reattach();
  uint32_t readStraight(uint64_t position, uint32_t count, std::byte* out) const;
  bool readLap(uint64_t position, uint32_t count, std::byte* out) const;
  template <typename T>
  std::atomic_ref<T> field(uint32_t offset) const;

  RingFile file_;
  const RingLayout* layout_ = nullptr;
  uint64_t capacity_ = 0;
  uint64_t firstReadPos_ = 0;
  DrainProtocol<RingReader> protocol_;
  RingState waitingFor_ = RingState::kReady;
  std::string reason_;
  PausePolicy pauses_ = PausePolicy::kAlways;
  int64_t pauseFromNs_ = 0;  // time of the last inspect() or swapMark()
  int64_t notedNs_ = 0;      // time of the last noteTime()
};

}  // namespace nixl_otel
