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
//   - The consumer takes events only while its mark is in place and read_pos is the value that it last published.
//   - A chunk is read, mark and read_pos are found unchanged, and the journal commits the chunk together with a
//     DrainRecord. From then on the chunk counts and nothing undoes it. Only then is read_pos swapped. If another value
//     than `before` makes the swap fail, the consumer swaps that value, if it is in [before, after), or goes on from
//     it.
//   - If the swap changed a new ring (its read_pos was stored, its expected_version not yet), the mark disappears.
//     takeBack() then swaps read_pos back to 0, so that the new ring's events are not skipped.
//   - The mark covers only a header that was read after the mark was stored, see resync().
//   - A producer that finds the ring full while a chunk is taken has reached the position before the chunk. The
//     consumer looks at write_pos again after the swap, and notes a gap there.
//
// The death of the consumer. A consumer with state has a journal that outlives it. It may die at any access. The next
// one waits until two looks at the header agree with the look before them, with pauses between, and finds:
//   - The recorded mark, and read_pos at `after`: nothing is to be done.
//   - The recorded mark, and read_pos in [before, after): the swap was not made, and is made now.
//   - The recorded mark, and read_pos elsewhere: a foreign consumer moved it. The chunk counts, and the numbers are
//     flagged.
//   - Another mark or none: the ring was rebuilt. The chunk counts. A swap that hit the new ring is taken back, see
//     leftSwapped(). After the new mark, a record without a chunk is committed, so that the restart counts once.
// Rules that this needs:
//   - The mark of an incarnation that goes on stays: a new one would look like a rebuild if the next consumer died too.
//     It also stays at a clean end. Marks of consumers with state never repeat.
//   - A record is `rested` only after two looks at the mark, with a pause before each. One look may fall into the end
//     of a rebuild that was visible before it. Until then the swap may have hit a new ring, and `fromZero` is kept from
//     record to record, because several chunks may have been swapped by then.
//   - A consumer without state that finds a mark leaves its own at its end. The next consumer with state then does not
//     take the missing events for a rebuild: it flags the numbers, before its new mark wipes that evidence.
//
// A second producer breaks all of this: see noteSeen() for what of it can be seen. Events are never dropped because
// they look like those of the lap before: a healthy agent writes equal laps.
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
//      flush comes one flush interval (10 ms or more) after its start. The death of the consumer ends its drain.
//
// Limits. A foreign consumer may ignore the file lock, as NIXL's own readers do. After its own first drain, and over
// its death, this consumer notices that read_pos moved, counts a foreign move, and flags the numbers as suspect. It
// does not notice earlier moves, nor whole laps between two of its looks: then read_pos is back at its old value. It
// does not notice events that others took from an incarnation that began and ended while no consumer with state lived.
// A consumer without state that is killed between a swap that hit a new ring and takeBack() leaves the new ring's
// read_pos wrong.
//
// If the consumer notices that an assumption failed, it flags the numbers as suspect. An exhaustive explorer
// (test/protocol_explorer_test.cc) checks every interleaving, store order and death under both assumptions: no event
// counts twice, no event counts that was not written, no event is lost unless a rebuild wipes it, no gap is missed, and
// no flag is set without cause.
//
// `Ring` is the ring's memory: real (RingReader) or simulated (the explorer). It has these methods:
//   HeaderPeek inspect()                reads the whole header and the file's size, and checks that they are consistent
//   int32_t loadVersion(), loadMark()   loadMark reads expected_version
//   uint64_t loadWritePos(), loadReadPos()
//   bool swapMark(from, to), swapReadPos(from, to)      compare-and-swap
//   uint32_t readSlots(position, count, out)    reads slots over the lap's end, returns the number of whole slots read
//   void noteTime(), bool pausedSinceNote()     true if a pause has passed since the last noteTime()
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
// incarnations and between successive consumers. Serials of consumers with state are in the upper half of their range
// and never repeat, because each follows the one in the record. Others begin with a random one in the lower half.
inline constexpr uint32_t kMarkTag = 0x4F54u << 16;  // "OT"
inline constexpr uint16_t kStateSerials = 0x8000;
constexpr int32_t makeMark(uint16_t serial) { return static_cast<int32_t>(kMarkTag | serial); }
constexpr bool isMark(int32_t value) { return (static_cast<uint32_t>(value) & 0xFFFF0000u) == kMarkTag; }
constexpr bool isStateMark(int32_t value) { return isMark(value) && (value & kStateSerials) != 0; }
// Returns the serial after that of a mark, in the same half.
constexpr uint16_t serialAfter(int32_t mark) {
  return static_cast<uint16_t>((mark & kStateSerials) | ((mark + 1) & (kStateSerials - 1)));
}

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
  // Subtracts earlier counts of the same rings. `suspect` stays: its cause may last.
  DrainStats& operator-=(const DrainStats& earlier) {
    drained -= earlier.drained;
    restarts -= earlier.restarts;
    foreignMoves -= earlier.foreignMoves;
    resyncs -= earlier.resyncs;
    foundFull -= earlier.foundFull;
    return *this;
  }
  bool operator==(const DrainStats&) const = default;
};

// Where the consumer of a ring stands: all that the next one needs to go on without a lost or a repeated event.
struct DrainRecord {
  // If a lap has more gaps, the later ones replace the last one.
  static constexpr uint32_t kMostGaps = 16;
  int32_t mark = 0;        // expected_version
  int32_t version = 0;     // wire version
  uint64_t before = 0;     // read_pos before the swap of the last chunk
  uint64_t after = 0;      // and after it; equal to `before` if no chunk was taken since the mark was stored
  bool fromZero = false;   // one of the swaps that are not known to have hit the marked ring began at 0
  bool rested = true;      // the swap of the last chunk is known to have hit the marked ring
  bool gapBefore = false;  // a foreign consumer took events of this incarnation after the last chunk
  uint32_t gaps = 0;       // positions ahead at which the ring was full, in order
  std::array<uint32_t, kMostGaps> gapAt{};
  DrainStats stats;

  bool operator==(const DrainRecord&) const = default;
};

template <typename Ring>
class DrainProtocol {
 public:
  static constexpr uint32_t kChunkSlots = 4096;

  // Begins with a ring that no record is known of: stores the mark. False if the header changed meanwhile: try again
  // later. The first drain reads the header again after a pause, see resync().
  //
  // Requires: header.whole.
  bool attach(Ring& ring, const HeaderPeek& header, uint64_t capacity, uint16_t markSerial) {
    serial_ = markSerial;
    mask_ = capacity - 1;
    return mark(ring, header);
  }

  // Goes on where the consumer that left `record` stood. The first drain finds out whether the ring is still the same
  // incarnation, see settle(). `sameGeometry`: the ring has the geometry that it had for that consumer.
  void resume(const DrainRecord& record, uint64_t capacity, bool sameGeometry) {
    serial_ = serialAfter(record.mark);
    mask_ = capacity - 1;
    place_ = record;
    resumed_ = true;
    if (sameGeometry && record.before <= mask_ && record.after <= mask_) return;
    forgetMark();
  }

  // Goes on with a ring of another geometry in the same file.
  void changeGeometry(uint64_t capacity) {
    resume(DrainRecord(place_), capacity, false);
    pending_ = seenPending_ = foundAtDrain_ = 0;
    looks_ = 0;
    attached_ = known_ = foundMark_ = otherConsumer_ = newRingMustBeEmpty_ = seenFull_ = settling_.begun = false;
  }

  // True if the last swap of the consumer that left `record` may have changed a ring that was being rebuilt, and
  // read_pos still has that value: the events before it were never read. (write_pos is before read_pos, because the
  // agent finds the ring full there. An agent that has passed it writes for another consumer, which took those events.)
  static bool leftSwapped(const DrainRecord& record, const HeaderPeek& header) {
    return record.fromZero && !record.rested && header.readPos != 0 && header.writePos < header.readPos &&
           (header.readPos == record.before || header.readPos == record.after);
  }

  // Takes up to `budget` events. `journal` gets:
  //   commit(slots, count, gapBefore, gapAfter, record)   a chunk. It counts when this returns.
  //     gapBefore  a foreign consumer took events of this incarnation before these
  //     gapAfter   the ring was full up to the chunk's end, so the producer may have dropped events there
  //   commit(record)                                      a new place without a chunk
  //   rest(record)                                        only `rested` has changed
  // Without `mayPause`, a drain that needs a pause returns kNeedsPause and takes no further event. Exception: if the
  // mark disappeared right after a swap, the drain pauses, because assumption B covers only this drain.
  //
  // Requires: `buffer` holds kChunkSlots slots.
  template <typename Journal>
  DrainOutcome drain(Ring& ring, uint64_t budget, std::byte* buffer, Journal&& journal, bool mayPause = true) {
    uint32_t pausesLeft = kMaxRecoveries;
    seenFull_ = false;
    bool isFirst = true;
    uint32_t lapEndReads = 0;   // consecutive reads of write_pos that were 0, with a pause after each
    uint32_t lapEndPauses = 0;  // in this drain
    for (;;) {
      if (!attached_) {
        if (known_ && !mayPause) return DrainOutcome::kNeedsPause;
        if (const Recovery found = resync(ring, journal); found != Recovery::kDone) return toOutcome(found);
      }
      Recovery recovery = Recovery::kDone;
      uint64_t write = 0;
      const bool paused = isFirst && !place_.rested && (!isStateMark(place_.mark) || ring.pausedSinceNote());
      if (!isMarked(ring) || (write = ring.loadWritePos()) > mask_) {
        recovery = mayPause ? recover(ring, journal) : Recovery::kNeedsPause;
      } else if (const uint64_t read = ring.loadReadPos(); read != place_.after) {
        recovery = mayPause ? examineReadPos(ring, read, journal) : Recovery::kNeedsPause;
      } else {
        if (paused) comeToRest(ring, journal);
        pending_ = (write - place_.after) & mask_;
        const bool atLapEnd = write == 0 && (pending_ != 0 || pending_ < seenPending_) && lapEndReads < kPauses;
        if (atLapEnd && !mayPause) return DrainOutcome::kNeedsPause;
        if (!atLapEnd && noteSeen(pending_, [&] { return isMarked(ring); })) journal.commit(std::as_const(place_));
        if (pending_ == mask_) noteFull(write);
        if (isFirst) foundAtDrain_ = pending_;
        isFirst = false;
        if (write != 0) lapEndReads = 0;
        if (pending_ == 0 && !atLapEnd) return DrainOutcome::kEmpty;
        if (budget == 0) return DrainOutcome::kMore;
        if (atLapEnd) {
          // A producer reaches the end of a lap once per lap. If another process stores write_pos 0 before every read,
          // this must not cost a pause for each event.
          if (lapEndPauses++ == kMaxLapEndPauses) return DrainOutcome::kMore;
          ring.pauseForRebuild(false);
          ++lapEndReads;
          continue;
        }
        recovery = takeChunk(ring, budget, buffer, journal, mayPause);
        if (recovery == Recovery::kTook) continue;
      }
      if (recovery != Recovery::kDone) return toOutcome(recovery);
      isFirst = false;
      lapEndReads = 0;
      // Each recovery costs pauses. Their number is limited: a file that always changes must not delay other rings.
      if (--pausesLeft == 0) {
        // The mark is still in place, so this is no rebuild but a foreign consumer that moves read_pos all the time.
        if (isMarked(ring) && ring.loadReadPos() != place_.after) {
          noteForeignMove();
          journal.commit(std::as_const(place_));
        }
        return DrainOutcome::kWaiting;
      }
    }
  }

  // Stores the wire version in expected_version again, if the mark is still in place.
  void detach(Ring& ring) {
    if (place_.mark != 0) ring.swapMark(place_.mark, place_.version);
    attached_ = false;
  }

  // True if the mark must stay at the end of this consumer. A consumer with state leaves it: the next one finds the
  // same incarnation. A consumer without state leaves it if it found another one, whose owner then finds that events
  // are gone.
  bool leavesMark() const { return isStateMark(place_.mark) || foundMark_; }

  // True if a drain would change nothing while version, mark and both positions of the ring are those of
  // record(), with write_pos and read_pos at `after`.
  bool isAtRest() const { return attached_ && place_.rested && pending_ == 0 && foundAtDrain_ == 0; }

  const DrainRecord& record() const { return place_; }
  const DrainStats& stats() const { return place_.stats; }
  bool attached() const { return attached_; }
  // Events that the last drain found.
  uint64_t foundAtDrain() const { return foundAtDrain_; }

 private:
  static constexpr uint32_t kMaxRecoveries = 4;
  static constexpr uint32_t kPauses = 2;
  static constexpr uint32_t kMaxLapEndPauses = 8;

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

  bool isMarked(Ring& ring) { return ring.loadVersion() == place_.version && ring.loadMark() == place_.mark; }

  template <typename Journal>
  Recovery takeChunk(Ring& ring, uint64_t& budget, std::byte* buffer, Journal& journal, bool mayPause) {
    const uint64_t from = place_.after;
    const uint64_t toGap = place_.gaps == 0 ? pending_ : (place_.gapAt[0] - from) & mask_;
    const auto count = static_cast<uint32_t>(std::min({pending_, toGap, budget, uint64_t{kChunkSlots}}));
    if (ring.readSlots(from, count, buffer) != count) return mayPause ? recover(ring, journal) : Recovery::kNeedsPause;
    // The ring may have become full since the last read of write_pos.
    const uint64_t write = ring.loadWritePos();
    if (((write - from) & mask_) == mask_) noteFull(write);
    if (!isMarked(ring)) return mayPause ? recover(ring, journal) : Recovery::kNeedsPause;
    if (const uint64_t read = ring.loadReadPos(); read != from) {
      return mayPause ? examineReadPos(ring, read, journal) : Recovery::kNeedsPause;
    }
    if (write != 0) noteSeen((write - from) & mask_, [] { return true; });
    place_.fromZero = from == 0 || (!place_.rested && place_.fromZero);
    place_.rested = false;
    place_.before = from;
    place_.after = (from + count) & mask_;
    place_.stats.drained += count;
    const bool gapBefore = std::exchange(place_.gapBefore, false);
    const bool gapAfter = passGap(place_.after);
    journal.commit(static_cast<const std::byte*>(buffer), count, gapBefore, gapAfter, std::as_const(place_));
    pending_ -= count;
    seenPending_ -= std::min(seenPending_, uint64_t{count});
    budget -= count;
    if (ring.swapReadPos(from, place_.after)) return lookAfterSwap(ring, from, journal);
    return mayPause ? examineReadPos(ring, ring.loadReadPos(), journal) : Recovery::kNeedsPause;
  }

  // Looks whether the swap of read_pos from `from` changed the marked ring. If it changed a new ring, takeBack() undoes
  // the swap.
  template <typename Journal>
  Recovery lookAfterSwap(Ring& ring, uint64_t from, Journal& journal) {
    looks_ = 0;
    if (isStateMark(place_.mark)) ring.noteTime();
    const uint64_t write = ring.loadWritePos();
    if (!isMarked(ring)) {
      newRingMustBeEmpty_ = true;
      return recover(ring, journal);
    }
    if (filledBeforeSwap(write, from)) journal.commit(std::as_const(place_));
    return Recovery::kTook;
  }

  // Notes that the mark is in place a pause after the last swap. A rebuild that had begun before the swap may be
  // visible during this pause and hidden again now, but not after a second pause. A consumer without state tells no
  // other one that its swap has hit the marked ring, so it needs no proof.
  template <typename Journal>
  void comeToRest(Ring& ring, Journal& journal) {
    if (isStateMark(place_.mark) && ++looks_ < kPauses) {
      ring.noteTime();
      return;
    }
    place_.rested = true;
    journal.rest(std::as_const(place_));
  }

  // Notes a gap if the producer may have found the ring full after the last look at write_pos and before the swap of
  // read_pos from `from`: then it has reached the position before `from` at least.
  bool filledBeforeSwap(uint64_t write, uint64_t from) {
    const uint64_t full = (from - 1) & mask_;
    // A chunk that ends there has told of the gap.
    if (full == place_.after || ((write - place_.after) & mask_) < ((full - place_.after) & mask_)) return false;
    noteFull(full);
    return true;
  }

  // Notes that `count` events are pending, at an unchanged read_pos. One producer never takes events back. Fewer than
  // were seen, with the mark still in place after that look, are those of another producer, which keeps a position of
  // its own: each time it stores this, up to a lap of old events looks new. (At write_pos 0 a rebuild may have begun.)
  // Returns true if this makes the numbers suspect.
  template <typename StillMarked>
  bool noteSeen(uint64_t count, StillMarked stillMarked) {
    const bool wentBack = count < seenPending_ && stillMarked();
    if (wentBack || count > seenPending_) seenPending_ = count;
    return wentBack && !std::exchange(place_.stats.suspect, true);
  }

  // Notes that the ring is full up to `at`, where the producer may have dropped events. A chunk ends at this position,
  // so that a tally assembles no transfer over it. Adds at most one to foundFull per drain.
  void noteFull(uint64_t at) {
    if (!std::exchange(seenFull_, true)) ++place_.stats.foundFull;
    if (place_.gaps != 0 && place_.gapAt[place_.gaps - 1] == at) return;
    place_.gaps = std::min(place_.gaps + 1, DrainRecord::kMostGaps);
    place_.gapAt[place_.gaps - 1] = static_cast<uint32_t>(at);
  }

  bool passGap(uint64_t next) {
    if (place_.gaps == 0 || place_.gapAt[0] != next) return false;
    std::shift_left(place_.gapAt.begin(), place_.gapAt.begin() + place_.gaps, 1);
    --place_.gaps;
    return true;
  }

  // Takes a mark that was never stored as that of the record, which tells nothing of the ring's incarnation. The next
  // mark differs from it: a death between that mark and the next commit leaves a record of another incarnation.
  void forgetMark() {
    place_.mark = makeMark(serial_);
    serial_ = serialAfter(place_.mark);
    rebuilt_ = true;
  }

  void noteForeignMove() {
    ++place_.stats.foreignMoves;
    place_.gapBefore = place_.stats.suspect = true;
  }

  // Stores a new mark. The next drain can use it only after resync() has read the header again.
  bool mark(Ring& ring, const HeaderPeek& header) {
    const int32_t mark = makeMark(serial_);
    serial_ = serialAfter(mark);
    if (!ring.swapMark(header.mark, mark)) return false;
    foundMark_ = isMark(header.mark);
    place_.mark = mark;
    place_.version = header.version;
    return true;
  }

  // Handles a mark that is gone or a header that is inconsistent. No event is taken until resync() succeeds.
  template <typename Journal>
  Recovery recover(Ring& ring, Journal& journal) {
    attached_ = false;
    pending_ = seenPending_ = 0;
    const Recovery found = resync(ring, journal);
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
  template <typename Journal>
  Recovery resync(Ring& ring, Journal& journal) {
    Settling now = settling_;
    settling_.begun = false;
    if (!now.begun) {
      now = {true, ring.inspect(), 0, 0};
      HeaderPeek& found = now.last;
      if (found.mark != place_.mark) {
        if (!takeBack(ring, found)) return Recovery::kWaiting;
        if (!found.whole) return Recovery::kWaiting;
        rebuilt_ = rebuilt_ || place_.mark != 0;
        if (found.geometryChanged) return Recovery::kGeometryChanged;
        if (rebuilt_ && serial_ >= kStateSerials && isMark(found.mark) && !isStateMark(found.mark) &&
            !std::exchange(otherConsumer_, true)) {
          // A rebuild leaves no mark: this one is that of a consumer without state. The new mark wipes this evidence.
          noteForeignMove();
          journal.commit(std::as_const(place_));
        }
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
      if (header.mark != place_.mark) break;
      if (!takeBack(ring, header)) break;
      const bool same = header.readPos == before.readPos && header.geometryChanged == before.geometryChanged &&
                        header.version == before.version;
      now.agreed = same ? now.agreed + 1 : 0;
      if (header.whole && now.agreed == kPauses) return settle(ring, header, journal);
    }
    return Recovery::kWaiting;
  }

  // Undoes a swap that changed the read_pos of a new ring: the events before that read_pos were never read. False if
  // read_pos changed meanwhile.
  bool takeBack(Ring& ring, HeaderPeek& header) {
    if (!(header.whole || header.readPosPast) || (header.mark == place_.mark && !rebuilt_)) return true;
    const bool ours = known_ ? header.readPos != 0 && header.readPos == place_.after && header.sameHeader
                             : resumed_ && leftSwapped(place_, header);
    if (!ours) return true;
    if (!ring.swapReadPos(header.readPos, 0)) return false;
    header.readPos = 0;
    return true;
  }

  // Goes on with a ring that has come to rest.
  template <typename Journal>
  Recovery settle(Ring& ring, const HeaderPeek& header, Journal& journal) {
    if (newRingMustBeEmpty_ && header.writePos != 0) place_.stats.suspect = true;  // assumption A or B failed
    if (header.geometryChanged) return Recovery::kGeometryChanged;
    const bool resumed = std::exchange(resumed_, false);
    const bool rebuilt = std::exchange(rebuilt_, false);
    const bool otherConsumer = std::exchange(otherConsumer_, false);
    const bool marked = (known_ || resumed) && !rebuilt;  // since the record: the same incarnation
    place_.stats.resyncs += known_ || (resumed && rebuilt);
    place_.version = header.version;
    known_ = attached_ = true;
    if (marked && header.readPos != place_.after) return goOnFrom(ring, header.readPos, journal, resumed);
    if (marked) {
      if (place_.rested) return Recovery::kDone;
      place_.rested = true;
      if (resumed && filledBeforeSwap(header.writePos, place_.before)) {
        journal.commit(std::as_const(place_));
      } else {
        journal.rest(std::as_const(place_));
      }
      return Recovery::kDone;
    }
    if (rebuilt && !otherConsumer && header.readPos == 0) {
      ++place_.stats.restarts;
      place_.gapBefore = false;
    } else if (rebuilt && !otherConsumer) {
      noteForeignMove();  // after a rebuild read_pos is 0: a foreign consumer moved it or removed the mark
    }
    beginAt(header.readPos);
    if (rebuilt) journal.commit(std::as_const(place_));
    return Recovery::kDone;
  }

  // Takes `position` as the place from which no chunk was taken.
  void beginAt(uint64_t position) {
    place_.before = place_.after = position;
    place_.fromZero = false;
    place_.rested = true;
    place_.gaps = 0;
    seenPending_ = 0;
  }

  // Examines a read_pos that is `seen` instead of the published value. kDone: continue from the present value.
  template <typename Journal>
  Recovery examineReadPos(Ring& ring, uint64_t seen, Journal& journal) {
    for (uint32_t pauses = 0; pauses < kPauses; ++pauses) {
      ring.pauseForRebuild(false);
      if (!isMarked(ring)) return recover(ring, journal);
      // Another value: a rebuild that began after the pause may have stored it. The drain examines it again.
      if (ring.loadReadPos() != seen) return Recovery::kDone;
    }
    if (seen > mask_) return recover(ring, journal);
    if (seen == place_.after) return Recovery::kDone;
    return goOnFrom(ring, seen, journal, false);
  }

  // Goes on from `seen`, at which the read_pos of the marked ring has come to rest, instead of place_.after. If `seen`
  // is a position of the last chunk, whose swap was not made or failed, the swap is made up for: the chunk counts.
  template <typename Journal>
  Recovery goOnFrom(Ring& ring, uint64_t seen, Journal& journal, bool resumed) {
    const bool inChunk = !place_.rested && ((seen - place_.before) & mask_) < ((place_.after - place_.before) & mask_);
    const bool notSwapped = resumed && inChunk && seen == place_.before;
    if (!notSwapped) noteForeignMove();
    if (!inChunk) beginAt(seen);
    place_.fromZero = place_.fromZero || (inChunk && seen == 0);
    if (!notSwapped) journal.commit(std::as_const(place_));
    if (!inChunk || !ring.swapReadPos(seen, place_.after)) return Recovery::kDone;
    const Recovery looked = lookAfterSwap(ring, seen, journal);
    return looked == Recovery::kTook ? Recovery::kDone : looked;
  }

  DrainRecord place_;
  uint64_t mask_ = 0;
  uint64_t pending_ = 0;
  uint64_t seenPending_ = 0;  // most events seen after place_.after
  uint64_t foundAtDrain_ = 0;
  uint32_t looks_ = 0;   // at the mark since the last swap, with a pause before each
  uint16_t serial_ = 0;  // of the next mark
  bool attached_ = false;
  bool known_ = false;               // resync() has succeeded before
  bool resumed_ = false;             // place_ is that of an earlier consumer, or of an earlier geometry
  bool rebuilt_ = false;             // since place_ expected_version held another mark, or none
  bool foundMark_ = false;           // in expected_version, where this consumer stored its own
  bool otherConsumer_ = false;       // since place_ it stored a mark there
  bool newRingMustBeEmpty_ = false;  // by assumption B: this drain lost the mark right after a swap
  bool seenFull_ = false;            // in this drain
  Settling settling_;
};

}  // namespace nixl_otel
