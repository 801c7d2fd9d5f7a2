// The restart protocol: how a consumer takes events out of a ring that its producer may rebuild in place at any time.
//
// An agent that restarts under its old name truncates the same file and stores version and expected_version 0,
// capacity, mask, both positions 0, version (release) and expected_version, the plain ones in whatever order its
// compiler chose. Nothing locks. A swap of read_pos alone cannot see that: with read_pos 0 before and after, it
// succeeds on the new ring and "consumes" events that nobody wrote there.
//
// So the consumer leaves a mark in expected_version, a field that every release writes once and none reads:
//   - it drains only while its mark stands and read_pos is what it last published;
//   - it publishes a chunk with a compare-and-swap. Once that succeeded the chunk counts: its events were the old
//     ring's, and nobody else took them. If the swap hit a new ring (whose read_pos had been stored, and the mark not
//     yet), the mark goes away, and what the swap would skip there is taken back: see takeBack();
//   - a mark only stands for what is found after it was left, see resync().
//
// A write_pos of 0 needs care: it is where a lap ends, but also what a rebuild that has only just begun shows while the
// mark still stands. So does a read_pos that is neither the old one nor 0. Those few are looked at again after pauses.
//
// Assumptions:
//   A  a rebuild that has begun to store takes at most one pause until version is 0 or expected_version is neither the
//      version nor a mark, and at most one from there no longer being so to its last store. In between it may take any
//      time, and so may the system calls before its first store. (With one pause instead of two at each place: the
//      whole rebuild within one pause.);
//   B  a new agent pushes nothing before a drain that was running when it started has ended: its first flush comes one
//      flush interval (10 ms or more) later.
//
// A consumer that heeds no lock may be at work on the same ring (NIXL's own readers are such). What it takes after our
// first drain is noticed, counted as a foreign move and the numbers are flagged, unless it takes whole laps between two
// of our looks: then read_pos is back where we left it. What it took before is nobody's to know.
//
// Where an assumption is seen to have failed, the numbers are flagged as suspect. Under both, an exhaustive explorer
// (test/protocol_explorer_test.cc) finds for every interleaving and store order: no event twice, none that was not
// written, none lost that the ring still held, and no false alarm.
//
// `Ring` is the memory, real (RingReader) or simulated (the explorer):
//   Header inspect()                    one look at the whole header and the file's size; says if they hold together
//   int32_t loadVersion(), loadMark()   loadMark reads expected_version
//   uint64_t loadWritePos(), loadReadPos()
//   bool swapMark(from, to), swapReadPos(from, to)      compare-and-swap
//   uint32_t readSlots(position, count, out)            how many whole slots could be read; goes on over the lap's end
//   bool pauseForRebuild(bool mayReturn)    waits for a pause's end; or, if it may, returns false while the pause since
//                                           inspect() or swapMark() has not passed
//
// A wire version whose header has the fields elsewhere (draft 5 against 1-4) needs a new protocol object: inspect()
// reports that as `relaid`.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace nixl_otel {

struct HeaderLook {
  bool whole = false;  // a known version, geometry and positions that hold, expected_version is stored (or a mark)
  bool readPosPast = false;  // not whole, but only because read_pos does not fit the capacity
  bool relaid = false;       // whole, but not the geometry that this protocol was attached to
  bool sameHeader = true;    // its fields are where this protocol has them
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
  kEmpty,     // nothing more to take
  kMore,      // there is more: the budget is used up, or too many pauses were
  kWaiting,   // the header does not hold (or is being rebuilt): look again later
  kSettling,  // a mark was left, and a pause must pass before the look that counts: come again after it
  kRestless,  // something moved that it takes pauses to look into, and there were to be none: come again with time
  kRelaid,    // a ring of another geometry stands in the file: reopen
};

struct DrainStats {
  uint64_t drained = 0;
  uint32_t restarts = 0;
  uint32_t foreignMoves = 0;
  uint32_t resyncs = 0;  // times it had to look anew at where the ring stands
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

  // `look` is a whole header. False when the mark could not be set: look again later.
  // Only leaves the mark: the first drain looks again after a pause, see resync().
  bool attach(Ring& ring, const HeaderLook& look, uint64_t capacity, uint16_t markSerial) {
    serial_ = markSerial;
    mask_ = capacity - 1;
    return mark(ring, look);
  }

  // Takes up to `budget` events. `sink(slots, count, gapBefore, gapAfter)` gets each chunk that counts; `buffer` holds
  // kChunkSlots slots. gapBefore: somebody else took events of this incarnation that stood before these. gapAfter: the
  // ring was full when the chunk's end was its end, so the producer may have left out events here.
  // `mayPause`: whether it may take the time to look into what moved; if not, that stays as it is for a drain that may.
  template <typename Sink>
  DrainOutcome drain(Ring& ring, uint64_t budget, std::byte* buffer, Sink&& sink, bool mayPause = true) {
    uint32_t pausesLeft = kMaxRecoveries;
    seenFull_ = false;
    bool firstLook = true;
    uint32_t lapEndLooks = 0;   // how often write_pos was 0, with a pause after each
    uint32_t lapEndPauses = 0;  // in all
    for (;;) {
      if (!attached_) {
        if (known_ && !mayPause) return DrainOutcome::kRestless;
        if (const Recovery found = resync(ring); found != Recovery::kGoOn) return toOutcome(found);
      }
      Recovery trouble = Recovery::kGoOn;
      uint64_t write = 0;
      if (!standing(ring) || (write = ring.loadWritePos()) > mask_) {
        trouble = mayPause ? lose(ring) : Recovery::kRestless;
      } else if (const uint64_t read = ring.loadReadPos(); read != published_) {
        trouble = mayPause ? readPosMoved(ring, read) : Recovery::kRestless;
      } else {
        pending_ = (write - published_) & mask_;
        const bool atLapEnd = write == 0 && pending_ != 0 && lapEndLooks < kPauses;
        if (atLapEnd && !mayPause) return DrainOutcome::kRestless;
        if (pending_ == mask_) noteFull(write);
        if (firstLook) fill_ = pending_;
        firstLook = false;
        if (write != 0) lapEndLooks = 0;
        if (pending_ == 0) return DrainOutcome::kEmpty;
        if (budget == 0) return DrainOutcome::kMore;
        if (atLapEnd) {
          // A producer comes to a lap's end once in a lap; a write_pos that is made to be there at every look must not
          // cost a pause for each event.
          if (lapEndPauses++ == kMaxLapEndPauses) return DrainOutcome::kMore;
          ring.pauseForRebuild(false);
          ++lapEndLooks;
          continue;
        }
        trouble = takeChunk(ring, budget, buffer, sink, mayPause);
        if (trouble == Recovery::kTook) continue;
      }
      if (trouble != Recovery::kGoOn) return toOutcome(trouble);
      firstLook = false;
      lapEndLooks = 0;
      // Each recovery costs a pause: a file that never comes to rest must not hold up the other rings.
      if (--pausesLeft == 0) {
        // Neither a rebuild, which would have taken the mark away, nor a consumer that ever rests.
        if (standing(ring) && ring.loadReadPos() != published_) noteForeignMove();
        return DrainOutcome::kWaiting;
      }
    }
  }

  // Leaves the header as it was found. The mark is only taken away if it still stands.
  void detach(Ring& ring) {
    if (mark_ != 0) ring.swapMark(mark_, version_);
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
  static constexpr uint32_t kPauses = 2;
  static constexpr uint32_t kMaxLapEndPauses = 8;
  // Of more than that within one lap the last ones count as one.
  static constexpr uint32_t kMostGaps = 16;

  // A resync that is to go on: the last look, how many there were, and how many in a row agreed.
  struct Settling {
    bool begun = false;
    HeaderLook look;
    uint32_t looks = 0;
    uint32_t agreed = 0;
  };

  enum class Recovery : uint8_t { kTook, kGoOn, kWaiting, kSettling, kRestless, kRelaid };

  static DrainOutcome toOutcome(Recovery r) {
    if (r == Recovery::kSettling) return DrainOutcome::kSettling;
    if (r == Recovery::kRestless) return DrainOutcome::kRestless;
    return r == Recovery::kRelaid ? DrainOutcome::kRelaid : DrainOutcome::kWaiting;
  }

  bool standing(Ring& ring) { return ring.loadVersion() == version_ && ring.loadMark() == mark_; }

  template <typename Sink>
  Recovery takeChunk(Ring& ring, uint64_t& budget, std::byte* buffer, Sink& sink, bool mayPause) {
    const uint64_t toGap = gaps_ == 0 ? pending_ : (gapAt_[0] - published_) & mask_;
    const auto count = static_cast<uint32_t>(std::min({pending_, toGap, budget, uint64_t{kChunkSlots}}));
    if (ring.readSlots(published_, count, buffer) != count) return mayPause ? lose(ring) : Recovery::kRestless;
    const uint64_t next = (published_ + count) & mask_;
    // It may have become full since the look, and the swap makes room.
    if (const uint64_t write = ring.loadWritePos(); ((write - published_) & mask_) == mask_) noteFull(write);
    if (!ring.swapReadPos(published_, next)) {
      return mayPause ? readPosMoved(ring, ring.loadReadPos()) : Recovery::kRestless;
    }
    // These events were the old ring's and nobody else's, whichever ring the swap hit. If it hit a new one, settle()
    // takes it back.
    stats_.drained += count;
    sink(buffer, count, std::exchange(foreignBefore_, false), passGap(next));
    published_ = next;
    pending_ -= count;
    budget -= count;
    if (standing(ring)) return Recovery::kTook;
    newbornMustRest_ = true;
    return lose(ring);
  }

  // The ring is full up to there: what the producer had more it may have left out. Chunks end there, so that nobody
  // joins what stands on both sides. Counts once in a drain.
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

  // Leaves a mark. What it marks is only known once settle() has looked again.
  bool mark(Ring& ring, const HeaderLook& look) {
    const int32_t mark = makeMark(serial_++);
    if (!ring.swapMark(look.mark, mark)) return false;
    mark_ = mark;
    version_ = look.version;
    return true;
  }

  // The mark is gone, or the header does not hold: nothing is drained until it does.
  Recovery lose(Ring& ring) {
    attached_ = false;
    pending_ = 0;
    const Recovery found = resync(ring);
    newbornMustRest_ = false;
    return found;
  }

  // First the mark, then a pause, then the look that counts: a rebuild that had begun before the mark was left is over
  // by then (and may have spared the mark, if its expected_version was stored early); one that began after the mark
  // takes it away. One that begins after the pause may show its read_pos of 0 first, so two looks must agree on
  // read_pos.
  //
  // Many rings may be found at once, and each pause would keep all the others waiting: so a ring that was never drained
  // may come again when the pause has passed. One that was must not: assumption B bounds how long that may take.
  Recovery resync(Ring& ring) {
    Settling now = settling_;
    settling_.begun = false;
    if (!now.begun) {
      now = {true, ring.inspect(), 0, 0};
      if (now.look.mark != mark_) {
        if (!takeBack(ring, now.look)) return Recovery::kWaiting;
        if (!now.look.whole) return Recovery::kWaiting;
        rebuilt_ = rebuilt_ || mark_ != 0;
        if (now.look.relaid) return Recovery::kRelaid;
        if (!mark(ring, now.look)) return Recovery::kWaiting;
      }
    }
    for (; now.look.whole && now.looks < kMaxRecoveries; ++now.looks) {
      if (!ring.pauseForRebuild(!known_)) {
        settling_ = now;
        return Recovery::kSettling;
      }
      const HeaderLook before = now.look;
      HeaderLook& look = now.look = ring.inspect();
      if (look.mark != mark_) break;
      if (!takeBack(ring, look)) break;
      const bool same =
          look.readPos == before.readPos && look.relaid == before.relaid && look.version == before.version;
      now.agreed = same ? now.agreed + 1 : 0;
      if (look.whole && now.agreed == kPauses) return settle(ring, look);
    }
    return Recovery::kWaiting;
  }

  // What a swap of ours left in a new ring's read_pos would skip what was never read.
  bool takeBack(Ring& ring, HeaderLook& look) {
    const bool ours = known_ && look.readPos != 0 && look.readPos == published_ && look.sameHeader;
    if (!ours || !(look.whole || look.readPosPast) || (look.mark == mark_ && !rebuilt_)) return true;
    if (!ring.swapReadPos(published_, 0)) return false;
    look.readPos = 0;
    return true;
  }

  Recovery settle(Ring&, const HeaderLook& look) {
    if (newbornMustRest_ && look.writePos != 0) stats_.suspect = true;  // assumption A or B failed
    if (look.relaid) return Recovery::kRelaid;
    stats_.resyncs += known_;
    if (known_ || rebuilt_) {
      if (look.readPos == 0 && (rebuilt_ || published_ != 0)) {
        ++stats_.restarts;
        foreignBefore_ = false;
      } else if (rebuilt_ || look.readPos != published_) {
        // No rebuild leaves read_pos elsewhere than at 0: someone else moved it, or took the mark away.
        noteForeignMove();
      }
    }
    version_ = look.version;
    published_ = look.readPos;
    gaps_ = 0;
    rebuilt_ = false;
    known_ = attached_ = true;
    return Recovery::kGoOn;
  }

  // read_pos is not what we published but `seen`. kGoOn: from where it is now.
  Recovery readPosMoved(Ring& ring, uint64_t seen) {
    for (uint32_t pauses = 0; pauses < kPauses; ++pauses) {
      ring.pauseForRebuild(false);
      if (!standing(ring)) return lose(ring);
      // A rebuild that began after the pause may have stored it: look again.
      if (ring.loadReadPos() != seen) return Recovery::kGoOn;
    }
    const uint64_t read = seen;
    if (read > mask_) return lose(ring);
    if (read == published_) return Recovery::kGoOn;
    noteForeignMove();
    published_ = read;
    gaps_ = 0;
    return Recovery::kGoOn;
  }

  uint64_t mask_ = 0;
  uint64_t published_ = 0;  // the read_pos that we last stored
  uint64_t pending_ = 0;
  uint64_t fill_ = 0;
  int32_t version_ = 0;
  int32_t mark_ = 0;
  uint16_t serial_ = 0;
  bool attached_ = false;
  bool known_ = false;            // it was attached before
  bool rebuilt_ = false;          // since then another's mark, or none, stood there
  bool newbornMustRest_ = false;  // by assumption B
  bool seenFull_ = false;         // in this drain
  bool foreignBefore_ = false;    // since the last chunk, in this incarnation
  uint32_t gaps_ = 0;             // places ahead where the ring was found full, in order
  std::array<uint32_t, kMostGaps> gapAt_{};
  Settling settling_;
  DrainStats stats_;
};

}  // namespace nixl_otel
