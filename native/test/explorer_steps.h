// Next steps of the producers and of a foreign consumer. One step is one memory access.

#pragma once

#include <cstdint>
#include <string>

#include "explorer_world.h"

namespace explorer {

enum class Step : uint8_t { kPush, kSharedPush, kSecondPush, kTruncate, kStore, kForeign };

struct Move {
  Step step;
  Store store;
};

struct Moves {
  Move list[12];
  int count = 0;
  void add(Step step, Store store = kVersion0) { list[count++] = {step, store}; }
};

// Memory locations as bits. If steps of two sides share no bit, their order has no effect. kPausePlace and kSwapPlace
// are no memory. kPausePlace: by assumption A the end of a pause depends on the stores of a rebuild. kSwapPlace: at the
// begin of a rebuild the oracle excuses unread events, and a swap before it decides which events these are.
enum Place : uint16_t {
  kSizePlace = 1,
  kVersionPlace = 2,
  kExpectedPlace = 4,
  kCapacityPlace = 8,
  kMaskPlace = 16,
  kWritePosPlace = 32,
  kReadPosPlace = 64,
  kSlotPlace = 128,  // and the three bits above it: one per slot
  kPausePlace = 1 << 11,
  kSwapPlace = 1 << 12,
  kEverywhere = 0xFFFF,
};
constexpr uint16_t slotPlace(uint64_t index) { return static_cast<uint16_t>(kSlotPlace << (index & 3)); }

struct Footprint {
  uint16_t reads;
  uint16_t writes;
};

constexpr bool dependent(Footprint x, Footprint y) {
  return (x.writes & (y.reads | y.writes)) != 0 || (x.reads & y.writes) != 0;
}

inline Footprint footprint(const World& before, Move move) {
  const uint16_t begin = before.rebuilding ? 0 : kSwapPlace;
  switch (move.step) {
    case Step::kPush:
      if (before.pushPhase == 0) return {kReadPosPlace | kWritePosPlace | kMaskPlace, 0};
      if (before.pushPhase == 1) return {kWritePosPlace, slotPlace(before.writePos)};
      return {kMaskPlace, kWritePosPlace};
    case Step::kTruncate:
      return {0, static_cast<uint16_t>(begin | kSizePlace | slotPlace(2) | slotPlace(3))};
    case Step::kStore: {
      const uint16_t places[] = {kVersionPlace,  kExpectedPlace, kCapacityPlace, kMaskPlace,
                                 kWritePosPlace, kReadPosPlace,  kVersionPlace,  kExpectedPlace};
      return {0, static_cast<uint16_t>(begin | kPausePlace | places[move.store])};
    }
    case Step::kSharedPush:
    case Step::kSecondPush:
    case Step::kForeign:
      break;
  }
  return {kEverywhere, kEverywhere};
}

// Steps of the others between two accesses of the consumer. Many schedules differ only in the order of independent
// steps. The search runs only one of these: the schedule in which the consumer's access comes last. Therefore a step is
// worthwhile here only if it depends on the access before it or on a step of this block. (Before the first access of a
// call no step is worthwhile: it can also be taken before the call.)
class Block {
 public:
  Block() : anything_(true) {}
  explicit Block(Footprint previousAccess) : access_(previousAccess) {}

  Moves worthwhile(const World& w, const Moves& all) const {
    Moves some;
    for (int i = 0; i < all.count; ++i) {
      const Move move = all.list[i];
      const bool follows = move.step == Step::kStore &&
                           ((move.store == kVersionV && constructor_) || (move.store == kExpectedV && expected0_));
      if (anything_ || follows || dependent(access_, footprint(w, move))) some.add(move.step, move.store);
    }
    return some;
  }

  void add(const World& w, Move move) {
    // The stores of a rebuild may have any order, with two exceptions: stores to one location, and version=V after the
    // stores of the constructor. All other steps of the producer have a fixed order.
    const bool lastStore = (w.stored | bit(move.store)) == 0xFF || move.store == kVersionV;
    if (move.step != Step::kStore || !w.rebuilding || lastStore) anything_ = true;
    if (move.store == kExpected0) expected0_ = true;
    constructor_ = true;
  }

  uint64_t code() const { return anything_ | constructor_ << 1 | expected0_ << 2; }

 private:
  Footprint access_{0, 0};
  bool anything_ = false;
  bool constructor_ = false;
  bool expected0_ = false;
};

// True if this store may be the next one of a rebuild. The compiler chooses the order. The store of the version has
// release order, so it comes after all stores of the header's constructor. expected_version is a plain store: the
// compiler may move it before all others, and may omit its 0.
inline bool mayStoreNext(const World& w, const Setting& setting, Store store) {
  const uint8_t constructor = bit(kVersion0) | bit(kCapacity) | bit(kMask) | bit(kWritePos0) | bit(kReadPos0);
  if (w.stored & bit(store)) return false;
  if (store == kVersion0) return !setting.versionZeroElided;
  if (store == kVersionV) {
    const uint8_t needed = setting.versionZeroElided ? constructor & ~bit(kVersion0) : constructor;
    return (w.stored & needed) == needed;
  }
  return true;
}

inline Moves possibleMoves(const World& w, const Setting& setting) {
  Moves moves;
  const bool foreignMayBegin = w.foreignLeft > 0 && w.readPos != w.writePos && (w.drained || !setting.foreignWaits);
  if (w.foreignHas || foreignMayBegin) moves.add(Step::kForeign);
  if (w.secondPhase != 0 || w.secondLeft > 0) moves.add(Step::kSecondPush);
  if (w.rebuilding) {
    for (int s = kVersion0; s <= kExpectedV; ++s) {
      if (mayStoreNext(w, setting, static_cast<Store>(s))) moves.add(Step::kStore, static_cast<Store>(s));
    }
    return moves;
  }
  const bool newbornHeld = setting.assumptionB && w.drainCall && w.rebuildInCall;
  if (w.pushPhase != 0 || (w.pushesLeft > 0 && !newbornHeld)) {
    moves.add(setting.secondPushes != 0 ? Step::kSharedPush : Step::kPush);
  }
  const bool rebuildHeld = setting.assumptionB && w.drainCall && w.rebuildBeganInCall;
  if (w.incarnation < setting.rebuilds && !rebuildHeld) {
    // An ftruncate to the present size changes nothing. Then the rebuild begins with a store.
    if (setting.capacity[w.incarnation + 1] != w.fileSlots) {
      moves.add(Step::kTruncate);
    } else {
      for (int s = kVersion0; s <= kExpectedV; ++s) {
        if (mayStoreNext(w, setting, static_cast<Store>(s))) moves.add(Step::kStore, static_cast<Store>(s));
      }
    }
  }
  return moves;
}

// What the consumer knows of the ring when a rebuild begins.
struct Watch {
  bool open;
  bool recorded;
};

// Begins a rebuild. The producer's process may have ended before any access, also between the stores of a slot and of
// write_pos.
inline void beginRebuild(World& w, Watch watch) {
  excuseUnreadEvents(w);
  w.rebuilding = 1;
  w.stored = 0;
  w.pushPhase = 0;
  w.pushesLeft = 0;
  ++w.incarnation;
  if (w.drainCall) w.rebuildInCall = w.rebuildBeganInCall = 1;
  w.rebuildsSeen += watch.open || watch.recorded;
  w.recordRebuilt |= watch.recorded;
}

inline void storeHeader(World& w, const Setting& setting, Store store) {
  const uint8_t capacity = setting.capacity[w.incarnation];
  w.stored |= bit(store);
  switch (store) {
    case kVersion0:
      w.version = 0;
      break;
    case kExpected0:
      w.expected = 0;
      break;
    case kCapacity:
      w.capacity = capacity;
      break;
    case kMask:
      w.mask = static_cast<uint8_t>(capacity - 1);
      break;
    case kWritePos0:
      w.writePos = 0;
      break;
    case kReadPos0:
      w.readPos = 0;
      break;
    case kVersionV:
      w.version = setting.version[w.incarnation];
      w.stored |= bit(kVersion0) | bit(kExpected0);  // the compiler has omitted the stores that are missing here
      break;
    case kExpectedV:
      w.expected = setting.version[w.incarnation];
      w.stored |= bit(kExpected0);
      break;
  }
  if (setting.pauseEndsInVisibleRebuild && rebuildShows(w)) w.hiddenSinceNote = 0;
  if (w.stored == 0xFF) {
    w.rebuilding = 0;
    w.stored = 0;
    w.hiddenSinceNote = 0;
    w.pushesLeft = setting.pushes[w.incarnation];
    w.ownPos[0] = 0;
  }
}

inline void push(World& w) {
  const uint8_t next = (w.writePos + 1) & w.mask;
  if (w.pushPhase == 0) {
    --w.pushesLeft;
    if (next == w.readPos) {
      w.refusedAfter |= w.ofIncarnation & valueBit(w.lastValue);
    } else {
      w.pushPhase = 1;
    }
  } else if (w.pushPhase == 1) {
    w.slots[w.writePos] = ++w.lastValue;
    w.pushPhase = 2;
  } else {
    w.written |= valueBit(w.lastValue);
    w.ofIncarnation |= valueBit(w.lastValue);
    w.writePos = next;
    w.pushPhase = 0;
  }
}

// Takes a step of a push of one of two producers.
inline void pushOwn(World& w, const Setting& setting, bool second) {
  uint8_t& phase = second ? w.secondPhase : w.pushPhase;
  uint8_t& left = second ? w.secondLeft : w.pushesLeft;
  uint8_t& own = w.ownPos[second];
  const uint8_t next = (own + 1) & w.mask;
  const bool movedByOther = w.writePos != own;
  switch (phase) {
    case 0:
      --left;
      if (!setting.checksPosition || !movedByOther) {
        phase = 1;
      } else {
        left = 0;
      }
      break;
    case 1:
      phase = next == w.readPos ? 0 : 2;
      break;
    case 2:
      w.slots[own] = ++w.lastValue;
      phase = 3;
      break;
    default:
      w.underWay += setting.checksPosition && movedByOther;
      w.writePos = own = next;
      phase = 0;
  }
}

// Takes a step of NIXL's pop: it loads read_pos, copies the slot, and stores the next position without a check.
inline void foreign(World& w) {
  if (w.foreignHas) {
    w.readPos = (w.foreignAt + 1) & w.mask;
    w.foreignHas = 0;
  } else {
    w.foreignAt = w.readPos;
    w.foreignHas = 1;
    --w.foreignLeft;
  }
}

inline void make(World& w, const Setting& setting, Move move, Watch watch) {
  if (setting.costLimit != 0) ++w.cost;
  switch (move.step) {
    case Step::kPush:
      return push(w);
    case Step::kSharedPush:
    case Step::kSecondPush:
      return pushOwn(w, setting, move.step == Step::kSecondPush);
    case Step::kForeign:
      return foreign(w);
    case Step::kTruncate: {
      beginRebuild(w, watch);
      const uint8_t slots = setting.capacity[w.incarnation];
      for (int i = slots; i < kMaxCapacity; ++i) w.slots[i] = 0;  // truncated slots are zeros when the file grows again
      w.fileSlots = slots;
      return;
    }
    case Step::kStore:
      if (!w.rebuilding) beginRebuild(w, watch);
      return storeHeader(w, setting, move.store);
  }
}

inline std::string describe(const World& before, Move move) {
  const std::string actor = move.step == Step::kForeign ? "  foreign: " : "  producer: ";
  const char* own[] = {"looks at write_pos", "is there room?", "slot", "write_pos"};
  switch (move.step) {
    case Step::kSharedPush:
      return actor + own[before.pushPhase];
    case Step::kSecondPush:
      return std::string("  second producer: ") + own[before.secondPhase];
    case Step::kPush:
      return actor + (before.pushPhase == 0 ? "is there room?" : before.pushPhase == 1 ? "slot" : "write_pos");
    case Step::kForeign:
      return actor + (before.foreignHas ? "stores read_pos" : "reads read_pos and slot");
    case Step::kTruncate:
      return actor + "ftruncate";
    case Step::kStore:
      return actor + "rebuild stores " + kStoreNames[move.store];
  }
  return actor;
}

}  // namespace explorer
