// The restart protocol: how a consumer takes events out of a ring that its producer may rebuild in place at any time.
//
// An agent that restarts under its old name truncates the same file. It then stores version and expected_version 0,
// capacity, mask, both positions 0, version (release) and expected_version. The order of the plain stores is its
// compiler's choice. There is no lock. A compare-and-swap of read_pos alone cannot detect this: with read_pos 0 before
// and after, it succeeds on the new ring and "consumes" events that no producer wrote there.
//
// So the consumer stores a mark in expected_version, a field that every release writes once and none reads.
//
// Invariants:
//   - The consumer drains only while its mark is in place and read_pos is the value that it last published.
//   - It publishes a chunk with a compare-and-swap. After success the chunk counts: its events were the old ring's, and
//     no other consumer took them. If the swap hit a new ring (its read_pos was stored, its expected_version not yet),
//     the mark disappears. takeBack() then restores the events that the swap would skip.
//   - The mark covers only a header that was read after the mark was stored, see resync().
//
// A write_pos of 0 is ambiguous: it is the end of a lap, or a rebuild that has just begun while the mark is still in
// place. A read_pos that is neither the old one nor 0 is ambiguous as well. Both are read again after pauses.
//
// Assumptions:
//   A  A rebuild takes at most one pause from its first store until version is 0 or expected_version is neither the
//      version nor a mark. It takes at most one pause from the end of that state to its last store. The time between,
//      and system calls before the first store, may take any time. (With one pause instead of two at each place, the
//      whole rebuild would have to end within one pause.)
//   B  A new agent pushes nothing before a drain that ran when it started has ended. Its first flush comes one flush
//      interval (10 ms or more) later.
//
// Another consumer may ignore the lock (NIXL's own readers do). After its first drain, the reader
// notices that another consumer moved read_pos, counts a foreign move, and flags the numbers as suspect. Whole laps
// between two reads remain unnoticed, because read_pos is back at its old value. Earlier moves remain unnoticed, too.
//
// If the reader notices that an assumption failed, it flags the numbers as suspect. Under both assumptions, an
// exhaustive explorer (test/protocol_explorer_test.cc) checks every interleaving and store order: no event is counted
// twice, no event is read that was not written, the ring loses no event that it held, and no flag is set without cause.
//
// `Ring` is the memory, real (RingReader) or simulated (the explorer):
//   HeaderPeek inspect()                reads the whole header and the file's size, and checks if they are consistent
//   int32_t loadVersion(), loadMark()   loadMark reads expected_version
//   uint64_t loadWritePos(), loadReadPos()
//   bool swapMark(from, to), swapReadPos(from, to)      compare-and-swap
//   uint32_t readSlots(position, count, out)    returns the number of whole slots read; wraps at the lap's end
//   bool pauseForRebuild(bool mayReturn)        waits until a pause has passed since inspect() or swapMark(); with
//                                               mayReturn it may return false instead of waiting
//
// Another geometry, or a wire version with other header fields (draft 5 against 1-4), needs a new protocol object:
// inspect() reports it as `geometryChanged`.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace nixl_otel {

struct HeaderPeek {
  bool whole = false;  // a known version, a consistent geometry and positions, expected_version is stored (or a mark)
  bool readPosPast = false;      // not whole, but only because read_pos exceeds the capacity
  bool geometryChanged = false;  // whole, but not the geometry that this protocol was attached to
  bool sameHeader = true;        // its fields have this protocol's offsets
  int32_t version = 0;
  int32_t mark = 0;  // expected_version
  uint64_t writePos = 0;
  uint64_t readPos = 0;
};

// A mark differs from every wire version by its upper half. Its serial number differs between successive consumers and
// between incarnations.
inline constexpr uint32_t kMarkTag = 0x4F54u << 16;  // "OT"
constexpr int32_t makeMark(uint16_t serial) { return static_cast<int32_t>(kMarkTag | serial); }
constexpr bool isMark(int32_t value) { return (static_cast<uint32_t>(value) & 0xFFFF0000u) == kMarkTag; }

enum class DrainOutcome : uint8_t {
  kEmpty,            // no events left
  kMore,             // events left: the budget is used up, or there were too many pauses
  kWaiting,          // the header is inconsistent or being rebuilt: drain again later
  kSettling,         // the mark was stored, and the read that counts comes after a pause: drain again then
  kNeedsPause,       // something moved that takes pauses to examine, and none were allowed: drain again with pauses
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

template <typename Ring>
class DrainProtocol {
 public:
  static constexpr uint32_t kChunkSlots = 4096;

  // Stores the mark. False if that failed: try again later. The first drain reads the header again after a pause, see
  // resync().
  //
  // Requires: header.whole.
  bool attach(Ring& ring, const HeaderPeek& header, uint64_t capacity, uint16_t markSerial) {
    serial_ = markSerial;
    mask_ = capacity - 1;
    return mark(ring, header);
  }

  // Takes up to `budget` events. `sink(slots, count, gapBefore, gapAfter)` gets each chunk that counts.
  //   gapBefore  another consumer took events of this incarnation before these
  //   gapAfter   the ring was full up to the chunk's end, so the producer may have dropped events there
  // Without `mayPause`, whatever takes pauses to examine is left for a drain that may pause.
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
          // A producer reaches the end of a lap once in a lap. A write_pos that is forged to be 0 at every read must
          // not cost a pause for each event.
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
      // Each recovery costs a pause: a file that always changes must not delay the other rings.
      if (--pausesLeft == 0) {
        // No rebuild, which would have removed the mark: a consumer that is always at work.
        if (isMarked(ring) && ring.loadReadPos() != published_) noteForeignMove();
        return DrainOutcome::kWaiting;
      }
    }
  }

  // Restores the header as it was found. Removes the mark only if it is still in place.
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
  // More gaps than that within one lap are merged at the last one.
  static constexpr uint32_t kMostGaps = 16;

  // A resync in progress.
  struct Settling {
    bool begun = false;
    HeaderPeek last;
    uint32_t peeks = 0;
    uint32_t agreed = 0;  // the last ones with equal contents
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
    // The ring may have become full since the last read, and the swap makes room.
    if (const uint64_t write = ring.loadWritePos(); ((write - published_) & mask_) == mask_) noteFull(write);
    if (!ring.swapReadPos(published_, next)) {
      return mayPause ? examineReadPos(ring, ring.loadReadPos()) : Recovery::kNeedsPause;
    }
    // No other consumer took these events, which were the old ring's. If the swap hit a new ring, takeBack() undoes it.
    stats_.drained += count;
    sink(buffer, count, std::exchange(foreignBefore_, false), passGap(next));
    published_ = next;
    pending_ -= count;
    budget -= count;
    if (isMarked(ring)) return Recovery::kTook;
    newRingMustBeEmpty_ = true;
    return recover(ring);
  }

  // The ring is full up to `at`: the producer may have dropped events there. Chunks end there, so that events on both
  // sides are not joined. Counts once in a drain.
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

  // Stores a mark. The marked ring is only known after resync() has read the header again.
  bool mark(Ring& ring, const HeaderPeek& header) {
    const int32_t mark = makeMark(serial_++);
    if (!ring.swapMark(header.mark, mark)) return false;
    mark_ = mark;
    version_ = header.version;
    return true;
  }

  // The mark is gone, or the header is inconsistent: nothing is drained until both are right again.
  Recovery recover(Ring& ring) {
    attached_ = false;
    pending_ = 0;
    const Recovery found = resync(ring);
    newRingMustBeEmpty_ = false;
    return found;
  }

  // First the mark, then a pause, then the read that counts. A rebuild that began before the mark was stored is over by
  // then (and kept the mark if it had stored its expected_version early). One that began after the mark removes it. One
  // that begins after the pause may show its read_pos of 0 first, so two reads must agree on read_pos.
  //
  // Many rings may be found at once, and each pause would delay all others. So a ring that was never drained may return
  // and continue after the pause. A ring that was drained must not: assumption B bounds the time it may take.
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

  // Undoes a swap that hit a new ring: events before its read_pos were never read.
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
        // A rebuild leaves read_pos at 0: another consumer moved it, or removed the mark.
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

  // read_pos is `seen` instead of the published value. kDone: continue from its present value.
  Recovery examineReadPos(Ring& ring, uint64_t seen) {
    for (uint32_t pauses = 0; pauses < kPauses; ++pauses) {
      ring.pauseForRebuild(false);
      if (!isMarked(ring)) return recover(ring);
      // A rebuild that began after the pause may have stored it: read again.
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
  uint64_t published_ = 0;  // the read_pos that was last stored
  uint64_t pending_ = 0;
  uint64_t foundAtDrain_ = 0;
  int32_t version_ = 0;
  int32_t mark_ = 0;
  uint16_t serial_ = 0;
  bool attached_ = false;
  bool known_ = false;               // it was attached before
  bool rebuilt_ = false;             // since then expected_version held another mark, or none
  bool newRingMustBeEmpty_ = false;  // by assumption B
  bool seenFull_ = false;            // in this drain
  bool foreignBefore_ = false;       // since the last chunk, in this incarnation
  uint32_t gaps_ = 0;                // positions ahead at which the ring was full, in order
  std::array<uint32_t, kMostGaps> gapAt_{};
  Settling settling_;
  DrainStats stats_;
};

}  // namespace nixl_otel
