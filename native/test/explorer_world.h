// The simulated world of the protocol explorer: one ring's memory, a producer and a foreign consumer that move in
// single memory accesses, and the oracle that knows what a consumer should have counted.
//
// Everything is small and trivially copyable: the explorer copies and hashes it millions of times.

#pragma once

#include <cstdint>
#include <string>

#include "../drain_protocol.h"

namespace explorer {

inline constexpr int kMaxCapacity = 4;

// Limits of an exploration: the steps of each side, and how often.
struct Setting {
  const char* name = "";
  uint8_t capacity[3] = {4, 4, 4};  // of the first incarnation and of each later one
  uint8_t version[3] = {4, 4, 4};
  uint8_t pushes[3] = {3, 2, 2};  // most tries per incarnation
  uint8_t rebuilds = 1;           // most rebuilds, at any time
  uint8_t foreignPops = 0;
  bool foreignWaits = false;  // until the consumer has ended its first drain
  uint8_t startPos = 0;       // both positions at the start: a ring that was in use before
  bool assumptionA = true;
  bool pauseEndsInVisibleRebuild =
      false;  // A weakened: a pause may also end in a rebuild that shows (version 0 and so on)
  bool assumptionB = true;
  bool firstWithoutPauses = false;  // each drain first tries without pauses
  bool blind = false;               // the consumer never sees that its mark or the version is gone
  bool inspectBackwards = false;    // order in which a read of the header copies its fields
  bool versionZeroElided = false;   // the compiler left out the store of version 0 as well
  uint8_t budgets[2] = {100, 1};    // budgets of a drain call; 0: no second choice
  uint8_t costLimit = 0;            // 0: none. Otherwise the most steps and calls (to find a short schedule)
};

// The header stores of a rebuild, as bits of World::stored.
enum Store : uint8_t { kVersion0, kExpected0, kCapacity, kMask, kWritePos0, kReadPos0, kVersionV, kExpectedV };
inline constexpr const char* kStoreNames[] = {"version=0",   "expected=0", "capacity",  "mask",
                                              "write_pos=0", "read_pos=0", "version=V", "expected=V"};
constexpr uint8_t bit(Store store) { return static_cast<uint8_t>(1u << store); }

enum Wrong : uint8_t { kDouble = 1, kPhantom = 2, kLost = 4, kDisorder = 8, kGapMissed = 16, kStuck = 32 };

struct World {
  // The ring's memory.
  int32_t expected = 4;
  uint8_t version = 4;
  uint8_t capacity = 4;
  uint8_t mask = 3;
  uint8_t writePos = 0;
  uint8_t readPos = 0;
  uint8_t fileSlots = 4;
  uint8_t slots[kMaxCapacity] = {};  // an event is one byte: its value, 1, 2, 3...; 0 was never written

  // The producer.
  uint8_t pushPhase = 0;  // 0 idle, 1 saw room, 2 slot stored
  uint8_t pushesLeft = 0;
  uint8_t lastValue = 0;
  uint8_t incarnation = 0;
  uint8_t rebuilding = 0;
  uint8_t stored = 0;  // header stores done in this rebuild

  // The foreign consumer, which pops as NIXL's readers do.
  uint8_t foreignHas = 0;  // it has read position foreignAt and not yet stored the next one
  uint8_t foreignAt = 0;
  uint8_t foreignLeft = 0;

  // Subject of assumption B.
  uint8_t drainCall = 0;      // a drain call is running
  uint8_t rebuildInCall = 0;  // it overlaps a rebuild
  uint8_t rebuildBeganInCall = 0;

  // The oracle.
  uint8_t lastCounted = 0;
  uint8_t wrong = 0;
  uint8_t rebuildsWhileOpen = 0;  // begun while the consumer was attached
  uint8_t cost = 0;
  uint8_t lastChunkGap = 0;
  uint8_t drained = 0;         // a drain call has ended: from here on the consumer knows the ring
  uint16_t counted = 0;        // by us; all of these are bit sets of values
  uint16_t inFlight = 0;       // swapped out of the living ring, not yet counted
  uint16_t excused = 0;        // un-consumed when a rebuild began
  uint16_t written = 0;        // slot and write_pos both
  uint16_t ofIncarnation = 0;  // of those: by the living incarnation
  uint16_t refusedAfter = 0;   // the ring was full after this value and refused the next
};
static_assert(std::has_unique_object_representations_v<World>, "hashed as bytes");

constexpr uint16_t valueBit(uint8_t value) { return static_cast<uint16_t>(1u << value); }

inline World startWorld(const Setting& setting) {
  World w;
  w.version = setting.version[0];
  w.expected = w.version;
  w.capacity = w.fileSlots = setting.capacity[0];
  w.mask = w.capacity - 1;
  w.writePos = w.readPos = setting.startPos;
  w.pushesLeft = setting.pushes[0];
  w.foreignLeft = setting.foreignPops;
  return w;
}

// ---- Oracle ----

// The consumer counts these events. Values were pushed in rising order: the counted ones must rise as well.
inline void countChunk(World& w, const uint8_t* values, uint32_t count, bool gapAfter) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint8_t value = values[i];
    if (!(w.written & valueBit(value))) {
      w.wrong |= kPhantom;
      continue;
    }
    if (w.counted & valueBit(value)) w.wrong |= kDouble;
    if (value < w.lastCounted) w.wrong |= kDisorder;
    // The events around a refused one must not pass for consecutive ones.
    const bool gapKnown = i == 0 && w.lastChunkGap;
    if (value == w.lastCounted + 1 && (w.refusedAfter & valueBit(w.lastCounted)) && !gapKnown) w.wrong |= kGapMissed;
    w.counted |= valueBit(value);
    w.inFlight &= static_cast<uint16_t>(~valueBit(value));
    w.lastCounted = value;
  }
  w.lastChunkGap = gapAfter;
}

// From here on unread events of the old ring are excused. Events that were read, with a successful swap on the living
// ring, must count.
inline void excuseUnreadEvents(World& w) {
  w.excused |= w.ofIncarnation & static_cast<uint16_t>(~(w.counted | w.inFlight));
  w.ofIncarnation = 0;
  w.refusedAfter = 0;
}

// After the end: events that are neither counted nor excused.
inline uint16_t lostEvents(const World& w) { return w.written & static_cast<uint16_t>(~(w.counted | w.excused)); }

}  // namespace explorer
