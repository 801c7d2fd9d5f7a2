// The consumer's side of the simulated ring, on which the real DrainProtocol runs. Before each access the search
// chooses steps of the producer and of the foreign consumer.

#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "explorer_schedule.h"
#include "explorer_steps.h"
#include "explorer_world.h"
#include "ring/drain_protocol.h"

namespace explorer {

struct Hung {};  // thrown if a call makes too many accesses
struct Died {};  // thrown if the consumer dies

class SimulatedRing;

// Counterpart of RingReader: the protocol, and the geometry at the time of attaching. Beside it the record, which
// outlives the consumer.
struct Consumer {
  nixl_otel::DrainProtocol<SimulatedRing> protocol;
  nixl_otel::DrainRecord record;
  int32_t trueMark = 0;  // the mark that a blind consumer believes to be in place
  uint16_t serial = 0;
  uint8_t capacity = 0;
  uint8_t version = 0;
  uint8_t open = 0;
  uint8_t isOther = 0;  // a consumer without state, in place of one that died
  uint8_t recorded = 0;

  Watch watch() const { return {open != 0, recorded != 0}; }
  void close() {
    std::memset(static_cast<void*>(&protocol), 0, sizeof protocol);
    new (&protocol) nixl_otel::DrainProtocol<SimulatedRing>();
    open = isOther = 0;
    trueMark = capacity = version = 0;
  }
};

inline Consumer newConsumer() {
  Consumer c;
  std::memset(static_cast<void*>(&c), 0, sizeof c);  // padding is hashed with the rest
  return *new (&c) Consumer();
}

class SimulatedRing {
  // Assumption A: a pause ends only after a rebuild that has stored something. (A rebuild that has only truncated the
  // file may take any time, because system calls follow.)
  bool pauseMayEnd() const {
    if (!setting_.assumptionA || !w_.rebuilding || w_.stored == 0) return true;
    return setting_.pauseEndsInVisibleRebuild && rebuildShows(w_);
  }

  // The death of the consumer has no effect but that its memory is lost. Therefore a death long after its last store,
  // and after steps of the others, equals a death right after that store.
  void dieIfChosen(const char* what) {
    const bool mayDie = setting_.withState && !c_.isOther && w_.deathsLeft > 0 && !frozen_;
    if (!std::exchange(stored_, false) || !mayDie || choices_.choose(2) == 0) return;
    if (log_ != nullptr) *log_ += std::string("consumer: dies before ") + what + "\n";
    throw Died{};
  }

  // Makes one access. Before it, the others may take any number of steps.
  template <typename Access>
  auto at(const char* what, Footprint touches, Access access) {
    Block block(previous_);
    dieIfChosen(what);
    for (;;) {
      Moves moves;
      if (!frozen_) moves = block.worthwhile(w_, possibleMoves(w_, setting_));
      if (setting_.costLimit != 0 && w_.cost >= setting_.costLimit) moves.count = 0;
      const bool mayContinue = touches.reads != kPausePlace || pauseMayEnd();
      if (!mayContinue && !setting_.pauseEndsInVisibleRebuild) {
        // The order of these stores does not matter, because the consumer reads only after the rebuild.
        const Moves all = possibleMoves(w_, setting_);
        make(w_, setting_, all.list[all.count - 1], c_.watch());
        block = Block();
        continue;
      }
      if (moves.count == 0) {
        if (mayContinue) break;
        throw AlreadyExplored{};
      }
      if (!choices_.replaying() && visited_ != nullptr) {
        Digest state = history_;
        state.add(block.code());
        state.addBytes(w_);
        if (!visited_->insert(state)) throw AlreadyExplored{};
      }
      int choice = choices_.choose(moves.count + mayContinue);
      if (mayContinue && choice-- == 0) break;
      if (log_ != nullptr) *log_ += describe(w_, moves.list[choice]) + "\n";
      block.add(w_, moves.list[choice]);
      make(w_, setting_, moves.list[choice], c_.watch());
    }
    if (++accesses_ > kMaxAccesses) throw Hung{};
    const auto result = access();
    previous_ = touches;
    history_.add(static_cast<uint64_t>(result));
    if (log_ != nullptr) *log_ += std::string("consumer: ") + what + " -> " + std::to_string(+result) + "\n";
    return result;
  }

 public:
  SimulatedRing(World& world, Consumer& consumer, const Setting& setting, Choices& choices, DigestSet* visited,
                std::string* log = nullptr)
      : w_(world), c_(consumer), setting_(setting), choices_(choices), visited_(visited), log_(log) {}

  const Setting& setting() const { return setting_; }

  // Lets only the consumer take steps from here on.
  void freezeOthers() { frozen_ = true; }

  // Begins the digest of a call's states. A state consists of the world and of all values that the consumer's code has
  // read since the call began, which determine its local variables.
  void beginCall(uint64_t what) {
    history_ = Digest();
    history_.addBytes(c_);
    history_.add(what);
    accesses_ = 0;
    previous_ = {0, 0};
    stored_ = true;
  }

  void beforeCommit() { dieIfChosen("commit"); }
  void afterCommit() { stored_ = true; }

  nixl_otel::HeaderPeek inspect() {
    const Digest before = history_;
    World seen = w_;
    at("inspect: size", Footprint{kSizePlace, 0}, [&] { return seen.fileSlots = w_.fileSlots; });
    for (int i = 0; i < 6; ++i) copyField(seen, setting_.inspectBackwards ? 5 - i : i);
    nixl_otel::HeaderPeek peek;
    const bool known = seen.version == 3 || seen.version == 4;
    const bool geometry = seen.capacity >= 2 && seen.fileSlots == seen.capacity && seen.mask == seen.capacity - 1;
    const bool holds = known && geometry && seen.writePos <= seen.mask &&
                       (seen.expected == seen.version || nixl_otel::isMark(seen.expected));
    peek.whole = holds && seen.readPos <= seen.mask;
    peek.readPosPast = holds && !peek.whole;
    // Returns no field of an inconsistent header: its values would only multiply the states.
    if (holds) {
      peek.geometryChanged = c_.open && (seen.capacity != c_.capacity || seen.version != c_.version);
      peek.version = seen.version;
      peek.mark = seen.expected;
      peek.writePos = seen.writePos;
      peek.readPos = seen.readPos;
      seenCapacity_ = seen.capacity;
      if (setting_.blind && c_.open) peek.mark = c_.trueMark;
    }
    history_ = before;
    history_.add(peek.whole | peek.geometryChanged << 1 | (holds && !peek.whole) << 2 | peek.version << 8 |
                 peek.writePos << 16 | peek.readPos << 24);
    history_.add(static_cast<uint32_t>(peek.mark) | (holds ? uint64_t{seenCapacity_} << 32 : 0));
    return peek;
  }

  int32_t loadVersion() {
    return at("version", Footprint{kVersionPlace, 0},
              [&] { return setting_.blind ? int32_t{c_.version} : int32_t{w_.version}; });
  }
  int32_t loadMark() {
    return at("expected_version", Footprint{kExpectedPlace, 0},
              [&] { return setting_.blind ? c_.trueMark : w_.expected; });
  }
  uint64_t loadWritePos() {
    return at("write_pos", Footprint{kWritePosPlace, 0}, [&] { return uint64_t{w_.writePos}; });
  }
  uint64_t loadReadPos() {
    return at("read_pos", Footprint{kReadPosPlace, 0}, [&] { return uint64_t{w_.readPos}; });
  }
  bool swapMark(int32_t from, int32_t to) {
    return at("swap expected_version", Footprint{0, kExpectedPlace}, [&] {
      if (setting_.blind) c_.trueMark = to;
      if (w_.expected != from && !(setting_.blind && c_.open)) return false;
      w_.expected = to;
      stored_ = true;
      return true;
    });
  }
  bool swapReadPos(uint64_t from, uint64_t to) {
    return at("swap read_pos", Footprint{kSwapPlace, kReadPosPlace}, [&] {
      if (w_.readPos != from) return false;
      // These events of the present incarnation must count: no other consumer can read them.
      for (uint64_t i = from; !c_.isOther && i != to; i = (i + 1) % c_.capacity) {
        if (i < kMaxCapacity) w_.inFlight |= w_.ofIncarnation & valueBit(w_.slots[i]) & ~w_.counted;
      }
      w_.readPos = static_cast<uint8_t>(to);
      stored_ = true;
      return true;
    });
  }
  uint32_t readSlots(uint64_t position, uint32_t count, std::byte* out) {
    uint32_t done = 0;
    while (done < count) {
      const uint64_t i = (position + done) % c_.capacity;
      const uint8_t value = at("slot", Footprint{static_cast<uint16_t>(slotPlace(i) | kSizePlace), 0},
                               [&] { return i < w_.fileSlots ? w_.slots[i] : uint8_t{0xFF}; });
      if (value == 0xFF) break;
      out[done++] = std::byte{value};
    }
    return done;
  }
  void noteTime() {
    const bool shows = setting_.pauseEndsInVisibleRebuild && rebuildShows(w_);
    w_.hiddenSinceNote = setting_.assumptionA && w_.rebuilding && w_.stored != 0 && !shows;
  }
  // By assumption A no pause passes while a rebuild is hidden. Otherwise it may have passed or not.
  bool pausedSinceNote() {
    return at("pause since the note", Footprint{kPausePlace, 0},
              [&] { return w_.hiddenSinceNote ? false : choices_.choose(2) == 0; });
  }
  // Always waits: a drain that returned during a pause, and the drain that continues it, equal one drain with a longer
  // pause.
  bool pauseForRebuild(bool) {
    at("pause", Footprint{kPausePlace, 0}, [] { return 0; });
    return true;
  }

  uint8_t seenCapacity() const { return seenCapacity_; }

 private:
  void copyField(World& seen, int field) {
    const char* names[] = {"inspect: write_pos",        "inspect: read_pos", "inspect: version",
                           "inspect: expected_version", "inspect: capacity", "inspect: mask"};
    const Place places[] = {kWritePosPlace, kReadPosPlace, kVersionPlace, kExpectedPlace, kCapacityPlace, kMaskPlace};
    at(names[field], Footprint{places[field], 0}, [&]() -> int32_t {
      switch (field) {
        case 0:
          return seen.writePos = w_.writePos;
        case 1:
          return seen.readPos = w_.readPos;
        case 2:
          return seen.version = w_.version;
        case 3:
          return seen.expected = w_.expected;
        case 4:
          return seen.capacity = w_.capacity;
        default:
          return seen.mask = w_.mask;
      }
    });
  }

  static constexpr int kMaxAccesses = 500;

  World& w_;
  Consumer& c_;
  const Setting& setting_;
  Choices& choices_;
  DigestSet* visited_;
  std::string* log_;
  Digest history_;
  int accesses_ = 0;
  Footprint previous_{0, 0};
  bool frozen_ = false;
  bool stored_ = false;  // the consumer has changed the ring or its record since its last access
  uint8_t seenCapacity_ = 0;
};

}  // namespace explorer
