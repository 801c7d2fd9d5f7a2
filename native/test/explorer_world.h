// The simulated world of the protocol explorer: the memory of one ring, a producer and a foreign consumer whose steps
// are single memory accesses, and the oracle, which knows the events that the consumer must count.
//
// The world is small and trivially copyable, because the explorer copies and hashes it millions of times.

#pragma once

#include <cstdint>
#include <string>

#include "ring/drain_protocol.h"

namespace explorer {

inline constexpr int kMaxCapacity = 4;

// Limits of an exploration: the steps that each side may take, and their numbers.
struct Setting {
  const char* name = "";
  uint8_t capacity[3] = {4, 4, 4};  // by incarnation
  uint8_t version[3] = {4, 4, 4};
  uint8_t pushes[3] = {3, 2, 2};  // largest number of pushes, by incarnation
  uint8_t rebuilds = 1;           // largest number of rebuilds
  uint8_t secondPushes = 0;       // of a second producer; then each keeps its own position, as RingWriter does
  bool checksPosition = false;    // as RingWriter does before each push: it stops once another one has moved write_pos
  uint8_t foreignPops = 0;
  bool foreignWaits = false;   // the foreign consumer begins after the consumer's first drain
  uint8_t startPos = 0;        // both positions at the start
  bool withState = false;      // the consumer keeps a record
  uint8_t deaths = 0;          // largest number of deaths of the consumer with state
  uint8_t otherConsumers = 0;  // largest number of consumers without state while it is dead
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

enum Wrong : uint8_t {
  kDouble = 1,
  kPhantom = 2,
  kLost = 4,
  kDisorder = 8,
  kGapMissed = 16,
  kStuck = 32,
  kNoMark = 64,  // a record has no mark of a consumer with state: a state file with it would be refused
};

struct World {
  // The ring's memory.
  int32_t expected = 4;
  uint8_t version = 4;
  uint8_t capacity = 4;
  uint8_t mask = 3;
  uint8_t writePos = 0;
  uint8_t readPos = 0;
  uint8_t fileSlots = 4;
  uint8_t slots[kMaxCapacity] = {};  // an event is one byte, its value: 1, 2, 3, ...; 0: not written

  // The producer.
  uint8_t pushPhase = 0;  // 0 idle, 1 saw room, 2 slot stored
  uint8_t pushesLeft = 0;
  uint8_t lastValue = 0;
  uint8_t incarnation = 0;
  uint8_t rebuilding = 0;
  uint8_t stored = 0;  // header stores done in this rebuild

  // With a second producer, which outlives a rebuild by the first one.
  uint8_t ownPos[2] = {};
  uint8_t secondPhase = 0;
  uint8_t secondLeft = 0;

  // The foreign consumer, which pops as NIXL's readers do.
  uint8_t foreignHas = 0;  // it has read position foreignAt and not yet stored the next one
  uint8_t foreignAt = 0;
  uint8_t foreignLeft = 0;

  // State for assumption B.
  uint8_t drainCall = 0;      // a drain call is running
  uint8_t rebuildInCall = 0;  // it overlaps a rebuild
  uint8_t rebuildBeganInCall = 0;

  // The oracle.
  uint8_t lastCounted = 0;
  uint8_t wrong = 0;
  uint8_t rebuildsSeen = 0;   // number that began while the consumer was attached or had a record
  uint8_t recordRebuilt = 0;  // one began while the consumer had a record
  uint8_t cost = 0;
  uint8_t lastChunkGap = 0;
  uint8_t drained = 0;  // a drain call has ended, so the consumer (or its record) knows the ring
  uint8_t deathsLeft = 0;
  uint8_t othersLeft = 0;       // consumers without state
  uint8_t hiddenSinceNote = 0;  // a rebuild has been hidden since the consumer's last noteTime()
  // With a second producer.
  uint16_t events = 0;    // counted; lastValue is the number of written slots
  uint16_t underWay = 0;  // stores of a position that the other producer had moved since the check
  // Sets of values as bits.
  uint16_t counted = 0;        // the consumer has counted them
  uint16_t inFlight = 0;       // the consumer's swap has taken them from the ring, but they are not counted
  uint16_t excused = 0;        // no consumer had taken them when a rebuild began
  uint16_t written = 0;        // the producer has stored slot and write_pos
  uint16_t ofIncarnation = 0;  // written by the present incarnation
  uint16_t refusedAfter = 0;   // after these values the ring was full and refused an event
};
static_assert(std::has_unique_object_representations_v<World>, "hashed as bytes");

// True if the rebuild that runs can be seen: by assumption A it may remain so for any time.
inline bool rebuildShows(const World& w) {
  return w.version == 0 || (w.expected != w.version && !nixl_otel::isMark(w.expected));
}

constexpr uint16_t valueBit(uint8_t value) { return static_cast<uint16_t>(1u << value); }

inline World startWorld(const Setting& setting) {
  World w;
  w.version = setting.version[0];
  w.expected = w.version;
  w.capacity = w.fileSlots = setting.capacity[0];
  w.mask = w.capacity - 1;
  w.writePos = w.readPos = setting.startPos;
  w.pushesLeft = setting.pushes[0];
  w.secondLeft = setting.secondPushes;
  w.ownPos[0] = w.ownPos[1] = setting.secondPushes != 0 ? setting.startPos : 0;
  w.foreignLeft = setting.foreignPops;
  w.deathsLeft = setting.deaths;
  w.othersLeft = setting.otherConsumers;
  return w;
}

// ---- Oracle ----

// Notes that the consumer counts these events. The producer pushes rising values, so the counted values must rise too.
inline void countChunk(World& w, const uint8_t* values, uint32_t count, bool gapBefore, bool gapAfter) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint8_t value = values[i];
    if (!(w.written & valueBit(value))) {
      w.wrong |= kPhantom;
      continue;
    }
    if (w.counted & valueBit(value)) w.wrong |= kDouble;
    if (value < w.lastCounted) w.wrong |= kDisorder;
    // A chunk must tell that events are not consecutive: the full ring refused one between them.
    const bool gapKnown = i == 0 && (w.lastChunkGap || gapBefore);
    if (value == w.lastCounted + 1 && (w.refusedAfter & valueBit(w.lastCounted)) && !gapKnown) w.wrong |= kGapMissed;
    w.counted |= valueBit(value);
    w.inFlight &= static_cast<uint16_t>(~valueBit(value));
    w.lastCounted = value;
  }
  w.lastChunkGap = gapAfter;
}

inline void endDrainCall(World& w) { w.drainCall = w.rebuildInCall = w.rebuildBeganInCall = 0; }

// Excuses unread events of the old incarnation. Events that a successful swap has taken from it must still count.
inline void excuseUnreadEvents(World& w) {
  w.excused |= w.ofIncarnation & static_cast<uint16_t>(~(w.counted | w.inFlight));
  w.ofIncarnation = 0;
  w.refusedAfter = 0;
}

// Returns the events that are neither counted nor excused at the end of a schedule.
inline uint16_t lostEvents(const World& w) { return w.written & static_cast<uint16_t>(~(w.counted | w.excused)); }

}  // namespace explorer
