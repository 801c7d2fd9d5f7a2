// The restart protocol: how a consumer takes events out of a ring that its producer may rebuild in place at any time.
//
// An agent that restarts under its old name truncates the same file and stores version and expected_version 0,
// capacity, mask, both positions 0, version (release) and expected_version, the plain ones in whatever order its
// compiler chose. Nothing locks. A swap of read_pos alone cannot see that: with read_pos 0 before and after, it
// succeeds on the new ring and "consumes" events that nobody wrote there.
//
// So the consumer leaves a mark in expected_version, a field that every release writes once and none reads:
//   - it drains only while its mark stands and read_pos is what it last published;
//   - it publishes a chunk with a compare-and-swap, and counts it only if the mark still stands after that;
//   - otherwise the ring was rebuilt, or someone else consumes: see swapHitOldRing() and resync().
//
// A write_pos of 0 needs care: it is where a lap ends, but also what a rebuild that has only just begun shows while the
// mark still stands. So are states that look whole because expected_version was stored early. Those few are looked at
// again after a pause.
//
// Assumptions:
//   A  a rebuild that has begun stores the rest of its header (eight stores) within one pause (kRebuildPauseUs), or
//      leaves version or expected_version in a state that shows that it has not;
//   B  a new agent pushes nothing before a drain that was running when it started has ended: its first flush comes one
//      flush interval (10 ms or more) later.
// Where either can be seen to have failed, the numbers are flagged as suspect. Under both, an exhaustive explorer
// (test/protocol_explorer_test.cc) finds for every interleaving and store order: no event twice, none that was not
// written, none lost that the ring still held.
//
// `Ring` is the memory, real (RingReader) or simulated (the explorer):
//   Header inspect()                    one look at the whole header and the file's size; says if they hold together
//   int32_t loadVersion(), loadMark()   loadMark reads expected_version
//   uint64_t loadWritePos(), loadReadPos()
//   bool swapMark(from, to), swapReadPos(from, to)      compare-and-swap
//   uint32_t readSlots(position, count, out)            how many whole slots could be read
//   void pauseForRebuild()
//
// A wire version whose header has the fields elsewhere (draft 5 against 1-4) needs a new protocol object: inspect()
// reports that as `relaid`.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nixl_otel {

struct HeaderLook {
  bool whole = false;      // a known version, geometry and positions that hold, expected_version is stored (or a mark)
  bool relaid = false;     // whole, but not the geometry that this protocol was attached to
  bool sameHeader = true;  // its fields are where this protocol has them
  int32_t version = 0;
  int32_t mark = 0;  // expected_version
  uint64_t writePos = 0;
  uint64_t readPos = 0;
};

// Marks can be told from every wire version: a fixed upper half, and a serial number so that two consumers one after
// the other, or two incarnations, never leave the same one.
inline constexpr uint32_t kMarkTag = 0x4F54u << 16;  // "OT"
constexpr int32_t makeMark(uint16_t serial) { return static_cast<int32_t>(kMarkTag | serial); }
constexpr bool isMark(int32_t value) { return (static_cast<uint32_t>(value) & 0xFFFF0000u) == kMarkTag; }

enum class DrainOutcome : uint8_t {
  kEmpty,    // nothing more to take
  kMore,     // the budget is used up
  kWaiting,  // the header does not hold (or is being rebuilt): look again later
  kRelaid,   // a ring of another geometry stands in the file: reopen
};

struct DrainStats {
  uint64_t drained = 0;
  uint32_t restarts = 0;
  uint32_t foreignMoves = 0;
  uint64_t foundFull = 0;
  bool suspect = false;
};

template <typename Ring>
class DrainProtocol {
 public:
  static constexpr uint32_t kChunkSlots = 4096;

  // `look` is a whole header. False when the mark could not be set: look again later.
  bool attach(Ring& ring, const HeaderLook& look, uint64_t capacity, uint16_t markSerial) {
    serial_ = markSerial;
    mask_ = capacity - 1;
    return takeOver(ring, look);
  }

  // Takes up to `budget` events. `sink(slots, count, gapAfter)` gets each chunk that counts; `buffer` holds kChunkSlots
  // slots. gapAfter: the ring was full when the chunk's end was its end, so the producer may have left out events here.
  template <typename Sink>
  DrainOutcome drain(Ring& ring, uint64_t budget, std::byte* buffer, Sink&& sink) {
    uint32_t pausesLeft = kMaxRecoveries;
    bool firstLook = true;
    bool lapEndSeen = false;  // write_pos was 0 before the last pause as well
    for (;;) {
      if (!attached_) {
        if (const Recovery found = resync(ring); found != Recovery::kGoOn) return toOutcome(found);
      }
      Recovery trouble = Recovery::kGoOn;
      uint64_t write = 0;
      if (!standing(ring) || (write = ring.loadWritePos()) > mask_) {
        trouble = lose(ring);
      } else if (ring.loadReadPos() != published_) {
        trouble = readPosMoved(ring);
      } else {
        pending_ = (write - published_) & mask_;
        const bool full = pending_ == mask_;
        if (firstLook) {
          stats_.foundFull += full;
          fill_ = pending_;
          unconfirmedLap_ = false;  // the mark has outlived a whole interval
        }
        firstLook = false;
        if (write != 0) lapEndSeen = unconfirmedLap_ = false;
        if (pending_ == 0) return DrainOutcome::kEmpty;
        if (budget == 0) return DrainOutcome::kMore;
        if (write == 0 && !lapEndSeen) {
          ring.pauseForRebuild();
          lapEndSeen = true;
          continue;
        }
        trouble = takeChunk(ring, write, full, budget, buffer, sink);
        if (trouble == Recovery::kTook) continue;
      }
      if (trouble != Recovery::kGoOn) return toOutcome(trouble);
      firstLook = lapEndSeen = false;
      // Each recovery costs a pause: a file that never comes to rest must not hold up the other rings.
      if (--pausesLeft == 0) return DrainOutcome::kWaiting;
    }
  }

  // Leaves the header as it was found. The mark is only taken away if it still stands.
  void detach(Ring& ring) {
    if (attached_) ring.swapMark(mark_, version_);
    attached_ = false;
  }

  const DrainStats& stats() const { return stats_; }
  bool attached() const { return attached_; }
  // Events that the last drain left, and those that it found.
  uint64_t pending() const { return pending_; }
  uint64_t fill() const { return fill_; }
  uint64_t published() const { return published_; }

 private:
  static constexpr uint32_t kMaxRecoveries = 4;

  enum class Recovery : uint8_t { kTook, kGoOn, kWaiting, kRelaid };

  static DrainOutcome toOutcome(Recovery r) {
    return r == Recovery::kRelaid ? DrainOutcome::kRelaid : DrainOutcome::kWaiting;
  }

  bool standing(Ring& ring) { return ring.loadVersion() == version_ && ring.loadMark() == mark_; }

  template <typename Sink>
  Recovery takeChunk(Ring& ring, uint64_t write, bool full, uint64_t& budget, std::byte* buffer, Sink& sink) {
    const uint64_t toLapEnd = mask_ + 1 - published_;
    const auto count = static_cast<uint32_t>(std::min({pending_, toLapEnd, budget, uint64_t{kChunkSlots}}));
    if (ring.readSlots(published_, count, buffer) != count) return lose(ring);
    const uint64_t next = (published_ + count) & mask_;
    if (!ring.swapReadPos(published_, next)) return readPosMoved(ring);
    const bool stands = standing(ring);
    if (stands || swapHitOldRing(ring, next)) {
      stats_.drained += count;
      sink(buffer, count, full && count == pending_);
    }
    if (!stands) return lose(ring);
    published_ = next;
    pending_ -= count;
    budget -= count;
    unconfirmedLap_ = write == 0;
    return Recovery::kTook;
  }

  // Marks the ring and goes on from its read_pos.
  bool takeOver(Ring& ring, const HeaderLook& look) {
    const int32_t mark = makeMark(serial_++);
    if (!ring.swapMark(look.mark, mark)) return false;
    mark_ = mark;
    version_ = look.version;
    published_ = look.readPos;
    unconfirmedLap_ = false;
    lateSwap_ = 0;
    attached_ = true;
    return true;
  }

  // The mark is gone, or the header does not hold: nothing is drained until it does.
  Recovery lose(Ring& ring) {
    // What was taken up to a lap's end just now may have been a rebuild that outlasted assumption A.
    if (unconfirmedLap_) stats_.suspect = true;
    unconfirmedLap_ = false;
    attached_ = false;
    pending_ = 0;
    return resync(ring);
  }

  // Between two whole looks lies a pause: a header that only looked whole while it was being rebuilt is final by then.
  Recovery resync(Ring& ring) {
    if (!ring.inspect().whole) return Recovery::kWaiting;
    ring.pauseForRebuild();
    HeaderLook look = ring.inspect();
    if (!look.whole) return Recovery::kWaiting;
    const bool rebuilt = look.mark != mark_;
    if (rebuilt && lateSwap_ != 0 && look.readPos == lateSwap_ && look.sameHeader) {
      // Our swap hit the new ring: what it would skip there was never read.
      if (!ring.swapReadPos(lateSwap_, 0)) return Recovery::kWaiting;
      look.readPos = 0;
    }
    if (look.relaid) return Recovery::kRelaid;
    const uint64_t before = published_;
    if (!takeOver(ring, look)) return Recovery::kWaiting;
    if (look.readPos == 0 && (rebuilt || before != 0)) {
      ++stats_.restarts;
    } else if (rebuilt || look.readPos != before) {
      // No rebuild leaves read_pos elsewhere than at 0: someone else moved it, or took the mark away.
      ++stats_.foreignMoves;
      stats_.suspect = true;
    }
    return Recovery::kGoOn;
  }

  // read_pos is not what we published. kGoOn: from where it is now.
  Recovery readPosMoved(Ring& ring) {
    ring.pauseForRebuild();
    if (!standing(ring)) return lose(ring);
    const uint64_t read = ring.loadReadPos();
    if (read > mask_) return lose(ring);
    if (read == published_) return Recovery::kGoOn;
    ++stats_.foreignMoves;
    stats_.suspect = true;
    published_ = read;
    unconfirmedLap_ = false;
    return Recovery::kGoOn;
  }

  // The mark went away around a swap to `next` that succeeded. True if it hit the old ring, so that the chunk counts.
  bool swapHitOldRing(Ring& ring, uint64_t next) {
    const bool fromZero = published_ == 0;
    published_ = next;
    ring.pauseForRebuild();
    if (ring.loadWritePos() != 0) stats_.suspect = true;  // assumption A or B failed
    // The new ring's read_pos starts at 0: a swap from elsewhere can only have hit the old ring.
    if (!fromZero) return true;
    // From 0 it can have hit either. The rebuild's own store of 0 tells: if it came later, it undid our swap.
    if (ring.loadReadPos() == 0) return true;
    lateSwap_ = next;
    return false;
  }

  uint64_t mask_ = 0;
  uint64_t published_ = 0;  // the read_pos that we last stored
  uint64_t pending_ = 0;
  uint64_t fill_ = 0;
  uint64_t lateSwap_ = 0;  // a read_pos of ours that may stand in the new ring, or 0
  int32_t version_ = 0;
  int32_t mark_ = 0;
  uint16_t serial_ = 0;
  bool attached_ = false;
  bool unconfirmedLap_ = false;  // the last chunk ended at a write_pos of 0 that has not moved on since
  DrainStats stats_;
};

}  // namespace nixl_otel
