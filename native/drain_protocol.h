// The restart protocol: takes events out of a ring that its producer may rebuild in place at any time.
//
// An agent that restarts under its old name truncates the same file. It then stores version and expected_version 0,
// capacity, mask, both positions 0, version (release) and expected_version. The agent's compiler chooses the order of
// the plain stores. Agents take no lock. A compare-and-swap of read_pos alone cannot detect a rebuild: with read_pos 0
// before and after the rebuild, it succeeds on the new ring and consumes events that no producer wrote there.
//
// Therefore the consumer stores a mark in expected_version, a field that every release of NIXL writes once and none
// reads.
//
// Invariants:
//   - The consumer drains only while its mark is in place and read_pos is the value that it last published.
//   - It publishes a chunk with a compare-and-swap of read_pos. After a successful swap the chunk counts: its events
//     belong to the marked ring, and no other consumer took them. If the swap changed a new ring (its read_pos was
//     stored, its expected_version not yet), the mark disappears. takeBack() then undoes the swap, so that the new
//     ring's events are not skipped.
//   - The mark covers only a header that was read after the mark was stored, see resync().
//
// A write_pos of 0 is ambiguous: it means the end of a lap, or a rebuild that has just begun while the mark is still in
// place. Another read_pos than the published one is ambiguous as well: a foreign consumer moved it, or a rebuild has
// begun. The consumer reads both again after pauses.
//
// Assumptions:
//   A  A rebuild is visible while version is 0 or expected_version is neither the version nor a mark. At most one pause
//      passes from its first store until it is visible, and at most one from the end of the visible state until its
//      last store. The visible state may take any time, and so may system calls before the first store. (The consumer
//      takes two pauses at each place. If it took one, the whole rebuild would have to end within one pause.)
//   B  If a drain runs when a new agent starts, the agent pushes nothing before this drain has ended. Reason: its first
//      flush comes one flush interval (10 ms or more) after its start.
//
// A foreign consumer may ignore the file lock, as NIXL's own readers do. After its own first drain, this consumer
// notices that read_pos moved, counts a foreign move, and flags the numbers as suspect. It does not notice earlier
// moves, nor whole laps between two of its reads: then read_pos is back at its old value.
//
// If the consumer notices that an assumption failed, it flags the numbers as suspect. An exhaustive explorer
// (test/protocol_explorer_test.cc) checks every interleaving and store order under both assumptions: no event counts
// twice, no event counts that was not written, no event is lost unless a rebuild wipes it, and no flag is set without
// cause.
//
// `Ring` is the ring's memory: real (RingReader) or simulated (the explorer). It has these methods:
//   HeaderPeek inspect()                reads the whole header and the file's size, and checks that they are consistent
//   int32_t loadVersion(), loadMark()   loadMark reads expected_version
//   uint64_t loadWritePos(), loadReadPos()
//   bool swapMark(from, to), swapReadPos(from, to)      compare-and-swap
//   uint32_t readSlots(position, count, out)    reads slots over the lap's end, returns the number of whole slots read
//   bool pauseForRebuild(bool mayReturn)        waits until a pause has passed since the last inspect() or swapMark();
//                                               with mayReturn it may return false instead of waiting
//
// A ring of another geometry needs a new protocol object: inspect() reports it as `geometryChanged`.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace nixl_otel {

struct HeaderPeek {
  bool whole = false;  // known version, consistent geometry and positions, expected_version is the version or a mark
  bool readPosPast = false;      // not whole, but only because read_pos exceeds the capacity
  bool geometryChanged = false;  // whole, but not the geometry that this protocol was attached to
  bool sameHeader = true;        // the header's fields have the offsets that this protocol was attached to
  int32_t version = 0;
  int32_t mark = 0;  // expected_version
  uint64_t writePos = 0;
  uint64_t readPos = 0;
};

// The upper half of a mark differs from every wire version. The lower half is a serial number, which differs between
// successive consumers and between incarnations.
inline constexpr uint32_t kMarkTag = 0x4F54u << 16;  // "OT"
constexpr int32_t makeMark(uint16_t serial) { return static_cast<int32_t>(kMarkTag | serial); }
constexpr bool isMark(int32_t value) { return (static_cast<uint32_t>(value) & 0xFFFF0000u) == kMarkTag; }

enum class DrainOutcome : uint8_t {
  kEmpty,            // no event is left
  kMore,             // events are left: the budget is used up, or the drain took too many pauses
  kWaiting,          // the header is inconsistent or being rebuilt: drain again later
  kSettling,         // a new mark was stored: drain again after a pause, when the header is read again
  kNeedsPause,       // the positions may belong to a rebuild, and pauses were not allowed: drain again with pauses
  kGeometryChanged,  // the file has a ring of another geometry: reattach
};

struct DrainStats {
  uint64_t drained = 0;
  uint32_t restarts = 0;
  uint32_t foreignMoves = 0;
  uint32_t resyncs = 0;  // times the read position was determined again
  uint64_t foundFull = 0;
  bool suspect = false;

  DrainStats& operator+=(const DrainStats& other) {
    drained += other.drained;
    restarts += other.restarts;
    foreignMoves += other.foreignMoves;
    resyncs += other.resyncs;
    foundFull += other.foundFull;
    suspect |= other.suspect;
    return *this;
  }
};

// Where the consumer of a ring stands: all that the next one needs to go on without a lost or a repeated event.
struct DrainRecord {
  static constexpr uint32_t kMostGaps = 16;
  int32_t mark = 0;     // expected_version
  int32_t version = 0;  // wire version
  uint64_t before = 0;  // read_pos before the swap of the last chunk
  uint64_t after = 0;   // and after it; equal to `before` if no chunk was taken since the mark was stored
  bool fromZero = false;
  bool rested = true;  // the swap is known to have hit the marked ring
  uint32_t gaps = 0;   // positions ahead at which the ring was full, in order
  std::array<uint32_t, kMostGaps> gapAt{};
  DrainStats stats;
};

template <typename Ring>
class DrainProtocol {
 public:
  static constexpr uint32_t kChunkSlots = 4096;

  // Stores the mark. False if the header changed meanwhile: try again later. The first drain reads the header again
  // after a pause, see resync().
  //
  // Requires: header.whole.
  bool attach(Ring& ring, const HeaderPeek& header, uint64_t capacity, uint16_t markSerial) {
    serial_ = markSerial;
    mask_ = capacity - 1;
    return mark(ring, header);
  }

  // Takes up to `budget` events. `sink(slots, count, gapBefore, gapAfter)` gets each chunk.
  //   gapBefore  a foreign consumer took events of this incarnation before these
  //   gapAfter   the ring was full up to the chunk's end, so the producer may have dropped events there
  // Without `mayPause`, a drain that needs a pause returns kNeedsPause and takes no further event. Exception: if the
  // mark disappeared right after a swap, the drain pauses, because assumption B covers only this drain.
  //
  // Requires: `buffer` holds kChunkSlots slots.
  template <typename Sink>
  DrainOutcome drain(Ring& ring, uint64_t budget, std::byte* buffer, Sink&& sink, bool mayPause = true) {
    uint32_t pausesLeft = kMaxRecoveries;
    seenFull_ = false;
    bool isFirst = true;
    uint32_t lapEndReads = 0;   // consecutive reads of write_pos that were 0, with a pause after each
    uint32_t lapEndPauses = 0;  // in this drain
    for (;;) {
      if (!attached_) {
        if (known_ && !mayPause) return DrainOutcome::kNeedsPause;
        if (const Recovery found = resync(ring); found != Recovery::kDone) return toOutcome(found);
      }
      Recovery recovery = Recovery::kDone;
      uint64_t write = 0;
      if (!isMarked(ring) || (write = ring.loadWritePos()) > mask_) {
        recovery = mayPause ? recover(ring) : Recovery::kNeedsPause;
      } else if (const uint64_t read = ring.loadReadPos(); read != published_) {
        recovery = mayPause ? examineReadPos(ring, read) : Recovery::kNeedsPause;
      } else {
        pending_ = (write - published_) & mask_;
        const bool atLapEnd = write == 0 && pending_ != 0 && lapEndReads < kPauses;
        if (atLapEnd && !mayPause) return DrainOutcome::kNeedsPause;
        if (pending_ == mask_) noteFull(write);
        if (isFirst) foundAtDrain_ = pending_;
        isFirst = false;
        if (write != 0) lapEndReads = 0;
        if (pending_ == 0) return DrainOutcome::kEmpty;
        if (budget == 0) return DrainOutcome::kMore;
        if (atLapEnd) {
          // A producer reaches the end of a lap once per lap. If another process stores write_pos 0 before every read,
          // this must not cost a pause for each event.
          if (lapEndPauses++ == kMaxLapEndPauses) return DrainOutcome::kMore;
          ring.pauseForRebuild(false);
          ++lapEndReads;
          continue;
        }
        recovery = takeChunk(ring, budget, buffer, sink, mayPause);
        if (recovery == Recovery::kTook) continue;
      }
      if (recovery != Recovery::kDone) return toOutcome(recovery);
      isFirst = false;
      lapEndReads = 0;
      // Each recovery costs pauses. Their number is limited: a file that always changes must not delay other rings.
      if (--pausesLeft == 0) {
        // The mark is still in place, so this is no rebuild but a foreign consumer that moves read_pos all the time.
        if (isMarked(ring) && ring.loadReadPos() != published_) noteForeignMove();
        return DrainOutcome::kWaiting;
      }
    }
  }

  // Stores the wire version in expected_version again, if the mark is still in place.
  void detach(Ring& ring) {
    if (mark_ != 0) ring.swapMark(mark_, version_);
    attached_ = false;
  }

  const DrainStats& stats() const { return stats_; }
  bool attached() const { return attached_; }
  // Events that the last drain left, and events that it found.
  uint64_t pending() const { return pending_; }
  uint64_t foundAtDrain() const { return foundAtDrain_; }
  uint64_t published() const { return published_; }

 private:
  static constexpr uint32_t kMaxRecoveries = 4;
  static constexpr uint32_t kPauses = 2;
  static constexpr uint32_t kMaxLapEndPauses = 8;
  // If a lap has more gaps, the later ones replace the last one.
  static constexpr uint32_t kMostGaps = 16;

  // A resync in progress.
  struct Settling {
    bool begun = false;
    HeaderPeek last;
    uint32_t peeks = 0;
    uint32_t agreed = 0;  // consecutive peeks that equal the peek before them
  };

  enum class Recovery : uint8_t { kTook, kDone, kWaiting, kSettling, kNeedsPause, kGeometryChanged };

  static DrainOutcome toOutcome(Recovery r) {
    if (r == Recovery::kSettling) return DrainOutcome::kSettling;
    if (r == Recovery::kNeedsPause) return DrainOutcome::kNeedsPause;
    return r == Recovery::kGeometryChanged ? DrainOutcome::kGeometryChanged : DrainOutcome::kWaiting;
  }

  bool isMarked(Ring& ring) { return ring.loadVersion() == version_ && ring.loadMark() == mark_; }

  template <typename Sink>
  Recovery takeChunk(Ring& ring, uint64_t& budget, std::byte* buffer, Sink& sink, bool mayPause) {
    const uint64_t toGap = gaps_ == 0 ? pending_ : (gapAt_[0] - published_) & mask_;
    const auto count = static_cast<uint32_t>(std::min({pending_, toGap, budget, uint64_t{kChunkSlots}}));
    if (ring.readSlots(published_, count, buffer) != count) return mayPause ? recover(ring) : Recovery::kNeedsPause;
    const uint64_t next = (published_ + count) & mask_;
    // Checks before the swap makes room: the ring may have become full since the last read of write_pos.
    if (const uint64_t write = ring.loadWritePos(); ((write - published_) & mask_) == mask_) noteFull(write);
    if (!ring.swapReadPos(published_, next)) {
      return mayPause ? examineReadPos(ring, ring.loadReadPos()) : Recovery::kNeedsPause;
    }
    // The chunk counts, see the invariants. If the swap changed a new ring, takeBack() undoes the swap.
    stats_.drained += count;
    sink(buffer, count, std::exchange(foreignBefore_, false), passGap(next));
    published_ = next;
    pending_ -= count;
    budget -= count;
    if (isMarked(ring)) return Recovery::kTook;
    newRingMustBeEmpty_ = true;
    return recover(ring);
  }

  // Notes that the ring is full up to `at`, where the producer may have dropped events. A chunk ends at this position,
  // so that a tally assembles no transfer over it. Adds at most one to foundFull per drain.
  void noteFull(uint64_t at) {
    if (!std::exchange(seenFull_, true)) ++stats_.foundFull;
    if (gaps_ != 0 && gapAt_[gaps_ - 1] == at) return;
    gaps_ = std::min(gaps_ + 1, kMostGaps);
    gapAt_[gaps_ - 1] = static_cast<uint32_t>(at);
  }

  bool passGap(uint64_t next) {
    if (gaps_ == 0 || gapAt_[0] != next) return false;
    std::shift_left(gapAt_.begin(), gapAt_.begin() + gaps_, 1);
    --gaps_;
    return true;
  }

  void noteForeignMove() {
    ++stats_.foreignMoves;
    foreignBefore_ = stats_.suspect = true;
  }

  // Stores a new mark. The next drain can use it only after resync() has read the header again.
  bool mark(Ring& ring, const HeaderPeek& header) {
    const int32_t mark = makeMark(serial_++);
    if (!ring.swapMark(header.mark, mark)) return false;
    mark_ = mark;
    version_ = header.version;
    return true;
  }

  // Handles a mark that is gone or a header that is inconsistent. No event is taken until resync() succeeds.
  Recovery recover(Ring& ring) {
    attached_ = false;
    pending_ = 0;
    const Recovery found = resync(ring);
    newRingMustBeEmpty_ = false;
    return found;
  }

  // Stores a mark if needed, then reads the header again after pauses, until two reads agree with the read before them.
  //
  // A rebuild that began before the mark was stored has ended after the pause. (It kept the mark if it had stored its
  // expected_version early.) A rebuild that began after the mark removes it. A rebuild that begins after the pause may
  // first store its read_pos of 0. Therefore consecutive reads must agree on read_pos.
  //
  // A ring that was never drained may return kSettling and continue after the pause: many rings may be found at once,
  // and each pause would delay all others. A ring that was drained may not, because assumption B covers only this
  // drain.
  Recovery resync(Ring& ring) {
    Settling now = settling_;
    settling_.begun = false;
    if (!now.begun) {
      now = {true, ring.inspect(), 0, 0};
      HeaderPeek& found = now.last;
      if (found.mark != mark_) {
        if (!takeBack(ring, found)) return Recovery::kWaiting;
        if (!found.whole) return Recovery::kWaiting;
        rebuilt_ = rebuilt_ || mark_ != 0;
        if (found.geometryChanged) return Recovery::kGeometryChanged;
        if (!mark(ring, found)) return Recovery::kWaiting;
      }
    }
    for (; now.last.whole && now.peeks < kMaxRecoveries; ++now.peeks) {
      if (!ring.pauseForRebuild(!known_)) {
        settling_ = now;
        return Recovery::kSettling;
      }
      const HeaderPeek before = now.last;
      HeaderPeek& header = now.last = ring.inspect();
      if (header.mark != mark_) break;
      if (!takeBack(ring, header)) break;
      const bool same = header.readPos == before.readPos && header.geometryChanged == before.geometryChanged &&
                        header.version == before.version;
      now.agreed = same ? now.agreed + 1 : 0;
      if (header.whole && now.agreed == kPauses) return settle(header);
    }
    return Recovery::kWaiting;
  }

  // Undoes a swap that changed the read_pos of a new ring: the events before that read_pos were never read. False if
  // read_pos changed meanwhile.
  bool takeBack(Ring& ring, HeaderPeek& header) {
    const bool ours = known_ && header.readPos != 0 && header.readPos == published_ && header.sameHeader;
    if (!ours || !(header.whole || header.readPosPast) || (header.mark == mark_ && !rebuilt_)) return true;
    if (!ring.swapReadPos(published_, 0)) return false;
    header.readPos = 0;
    return true;
  }

  Recovery settle(const HeaderPeek& header) {
    if (newRingMustBeEmpty_ && header.writePos != 0) stats_.suspect = true;  // assumption A or B failed
    if (header.geometryChanged) return Recovery::kGeometryChanged;
    stats_.resyncs += known_;
    if (known_ || rebuilt_) {
      if (header.readPos == 0 && (rebuilt_ || published_ != 0)) {
        ++stats_.restarts;
        foreignBefore_ = false;
      } else if (rebuilt_ || header.readPos != published_) {
        // After a rebuild read_pos is 0. Therefore a foreign consumer moved it or removed the mark.
        noteForeignMove();
      }
    }
    version_ = header.version;
    published_ = header.readPos;
    gaps_ = 0;
    rebuilt_ = false;
    known_ = attached_ = true;
    return Recovery::kDone;
  }

  // Examines a read_pos that is `seen` instead of the published value. kDone: continue from the present value.
  Recovery examineReadPos(Ring& ring, uint64_t seen) {
    for (uint32_t pauses = 0; pauses < kPauses; ++pauses) {
      ring.pauseForRebuild(false);
      if (!isMarked(ring)) return recover(ring);
      // Another value: a rebuild that began after the pause may have stored it. The drain examines it again.
      if (ring.loadReadPos() != seen) return Recovery::kDone;
    }
    if (seen > mask_) return recover(ring);
    if (seen == published_) return Recovery::kDone;
    noteForeignMove();
    published_ = seen;
    gaps_ = 0;
    return Recovery::kDone;
  }

  uint64_t mask_ = 0;
  uint64_t published_ = 0;  // the read_pos that this consumer last stored or accepted
  uint64_t pending_ = 0;
  uint64_t foundAtDrain_ = 0;
  int32_t version_ = 0;
  int32_t mark_ = 0;
  uint16_t serial_ = 0;
  bool attached_ = false;
  bool known_ = false;               // resync() has succeeded before
  bool rebuilt_ = false;             // since then expected_version held another mark, or none
  bool newRingMustBeEmpty_ = false;  // by assumption B: this drain lost the mark right after a swap
  bool seenFull_ = false;            // in this drain
  bool foreignBefore_ = false;       // since the last chunk, in this incarnation
  uint32_t gaps_ = 0;                // positions ahead at which the ring was full, in order
  std::array<uint32_t, kMostGaps> gapAt_{};
  Settling settling_;
  DrainStats stats_;
};

}  // namespace nixl_otel
