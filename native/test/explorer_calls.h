// Counterparts of RingReader's open(), drain() and reattach() on the simulated ring.

#pragma once

#include "explorer_ring.h"

namespace explorer {

inline bool attach(Consumer& c, SimulatedRing& ring, const nixl_otel::HeaderPeek& peek) {
  c.capacity = ring.seenCapacity();
  c.version = static_cast<uint8_t>(peek.version);
  const uint16_t serial = c.serial = static_cast<uint16_t>(c.serial + 0x20);
  std::memset(static_cast<void*>(&c.protocol), 0, sizeof c.protocol);
  new (&c.protocol) nixl_otel::DrainProtocol<SimulatedRing>();
  return c.protocol.attach(ring, peek, c.capacity, serial);
}

// RingReader::open(). If it fails, the consumer remains closed and may try again.
inline void openCall(World&, Consumer& c, SimulatedRing& ring) {
  ring.beginCall(0);
  const nixl_otel::HeaderPeek peek = ring.inspect();
  if (!peek.whole) return;
  const Consumer closed = c;
  if (attach(c, ring, peek)) {
    c.open = 1;
  } else {
    c = closed;
  }
}

// RingReader::reattach()
inline bool reattach(Consumer& c, SimulatedRing& ring) {
  const nixl_otel::HeaderPeek peek = ring.inspect();
  if (!peek.whole) return false;
  c.before = c.stats();
  ++c.before.restarts;
  return attach(c, ring, peek);
}

// Journal of a consumer without state.
struct Counter {
  World& w;
  uint64_t events = 0;

  void commit(const std::byte* slots, uint32_t count, bool, bool gapAfter, const nixl_otel::DrainRecord&) {
    uint8_t values[kMaxCapacity];
    std::memcpy(values, slots, count);
    countChunk(w, values, count, gapAfter);
    events += count;
  }
  void commit(const nixl_otel::DrainRecord&) {}
  void rest(const nixl_otel::DrainRecord&) {}
};

// RingReader::drain()
inline nixl_otel::DrainOutcome drainCall(World& w, Consumer& c, SimulatedRing& ring, uint64_t budget) {
  using nixl_otel::DrainOutcome;
  ring.beginCall(budget);
  w.drainCall = 1;
  w.rebuildInCall = w.rebuilding;
  std::byte buffer[kMaxCapacity];
  Counter journal{w};
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
  w.drainCall = w.rebuildInCall = w.rebuildBeganInCall = 0;
  if (outcome == DrainOutcome::kEmpty || outcome == DrainOutcome::kMore) w.drained = 1;
  return outcome;
}

}  // namespace explorer
