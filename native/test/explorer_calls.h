// Counterparts of RingReader's open(), drain() and reattach() on the simulated ring.

#pragma once

#include "explorer_ring.h"

namespace explorer {

inline void takeGeometry(Consumer& c, const SimulatedRing& ring, const nixl_otel::HeaderPeek& peek) {
  c.capacity = ring.seenCapacity();
  c.version = static_cast<uint8_t>(peek.version);
}

// RingReader::open(). If it fails, the consumer remains closed and may try again.
inline void openCall(Consumer& c, SimulatedRing& ring, bool asOther) {
  using nixl_otel::serialAfter;
  const bool keepsState = ring.setting().withState && !asOther;
  const bool recalls = keepsState && c.recorded;
  c.isOther = asOther;
  ring.beginCall(asOther);
  const nixl_otel::HeaderPeek peek = ring.inspect();
  if (!peek.whole && !(recalls && nixl_otel::DrainProtocol<SimulatedRing>::leftSwapped(c.record, peek))) {
    c.close();
    return;
  }
  takeGeometry(c, ring, peek);
  if (recalls) {
    c.protocol.resume(c.record, c.capacity, c.record.version == peek.version);
  } else {
    const uint16_t lower = c.serial = static_cast<uint16_t>(c.serial + 0x20);
    const uint16_t upper = nixl_otel::isStateMark(peek.mark) ? serialAfter(peek.mark) : nixl_otel::kStateSerials;
    if (!c.protocol.attach(ring, peek, c.capacity, keepsState ? upper : lower)) {
      c.close();
      return;
    }
  }
  c.open = 1;
}

// The destructor of RingReader.
inline void closeCall(Consumer& c, SimulatedRing& ring) {
  ring.beginCall(0);
  if (!c.protocol.leavesMark()) c.protocol.detach(ring);
  c.close();
}

// RingReader::reattach()
inline bool reattach(Consumer& c, SimulatedRing& ring) {
  const nixl_otel::HeaderPeek peek = ring.inspect();
  if (!peek.whole) return false;
  takeGeometry(c, ring, peek);
  c.protocol.changeGeometry(c.capacity);
  return true;
}

// Counts the events of the consumer, unless it is another one, and keeps its record.
struct Journal {
  World& w;
  Consumer& c;
  SimulatedRing& ring;
  uint64_t events = 0;

  void commit(const std::byte* slots, uint32_t count, bool gapBefore, bool gapAfter,
              const nixl_otel::DrainRecord& record) {
    events += count;
    if (c.isOther) return;
    ring.beforeCommit();
    uint8_t values[kMaxCapacity];
    std::memcpy(values, slots, count);
    if (ring.setting().secondPushes != 0) w.events += static_cast<uint16_t>(count);
    countChunk(w, values, count, gapBefore, gapAfter);
    commit(record);
  }
  void commit(const nixl_otel::DrainRecord& record) {
    if (c.isOther || !ring.setting().withState) return;
    if (!nixl_otel::isStateMark(record.mark)) w.wrong |= kNoMark;
    c.record = record;
    c.recorded = 1;
    ring.afterCommit();
  }
  void rest(const nixl_otel::DrainRecord& record) { commit(record); }
};

// RingReader::drain()
inline nixl_otel::DrainOutcome drainCall(World& w, Consumer& c, SimulatedRing& ring, uint64_t budget) {
  using nixl_otel::DrainOutcome;
  ring.beginCall(budget);
  w.drainCall = 1;
  w.rebuildInCall = w.rebuilding;
  std::byte buffer[kMaxCapacity];
  Journal journal{w, c, ring};
  DrainOutcome outcome = DrainOutcome::kWaiting;
  for (int geometries = 0; geometries < 2; ++geometries) {
    outcome = c.protocol.drain(ring, budget - journal.events, buffer, journal, !ring.setting().firstWithoutPauses);
    if (outcome == DrainOutcome::kNeedsPause) {
      outcome = c.protocol.drain(ring, budget - journal.events, buffer, journal, true);
    }
    if (outcome != DrainOutcome::kGeometryChanged) break;
    outcome = DrainOutcome::kWaiting;
    if (!reattach(c, ring)) break;
  }
  endDrainCall(w);
  const bool ended = outcome == DrainOutcome::kEmpty || outcome == DrainOutcome::kMore;
  if (ended && (c.recorded || !ring.setting().withState)) w.drained = 1;
  return outcome;
}

}  // namespace explorer
