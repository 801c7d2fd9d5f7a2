// Lower bound of the events that a full ring refused, from transfers that lack their end where the ring was full.
//
// From wire version 4 on an agent stages the events of a transfer under one lock, and writes them one after another.
// So a transfer without its end, at a place where the ring was full, has lost its end there. The agent may have been
// refused any number of whole transfers behind it: nothing tells of these.
//
// Assumption: the ring has one producer. Transfers that are cut elsewhere show that it has not: then nothing counts
// until the agent restarts.
//
// Thread safety: none. At most one thread at a time may use it.

#pragma once

#include <cstdint>

#include "ring/ring_event.h"

namespace nixl_otel {

class RefusedEvents {
 public:
  static constexpr int32_t kFirstWireVersion = 4;

  uint64_t count() const { return state_.count; }

  // Notes a whole transfer of this direction: no allowlist of the agent leaves out its end.
  void noteWhole(uint32_t direction) { state_.flags |= 1u << direction; }
  // Notes a transfer whose next event is another one, where the ring was not full.
  void noteTorn() { state_.flags |= kTorn; }
  // Notes a transfer that has no requests yet where the ring was full.
  void noteCutBeforeRequests(uint32_t direction) {
    if ((state_.flags & (kTorn | 1u << direction)) == 1u << direction) state_.cut = kRequests + direction;
  }
  // The same for one that has its time only: its direction is not known.
  void noteCutBeforeBytes() {
    if ((state_.flags & (kTorn | kBoth)) == kBoth) state_.cut = kBytes;
  }
  // Counts what the cut transfer lacks, unless the next event may continue it. Behind a notice of dropped events
  // nothing counts: the agent may have dropped the end itself.
  void noteNext(uint32_t type) {
    if (state_.cut == kNothing) return;
    const bool isOpen = state_.cut == kBytes ? type <= kRxRequests : type == kTxRequests + (state_.cut - kRequests);
    if (!isOpen && type != kEventsDropped) state_.count += state_.cut == kBytes ? 2 : 1;
    state_.cut = kNothing;
  }
  // Notes that the next event is not the one that the ring had next.
  void forgetCut() { state_.cut = kNothing; }
  // Notes a new incarnation of the agent, which may have another allowlist.
  void restart() { state_ = {.count = state_.count}; }

  // For the state file.
  struct State {
    uint64_t count = 0;
    uint32_t cut = 0;
    uint32_t flags = 0;
    bool operator==(const State&) const = default;
  };
  const State& state() const { return state_; }
  // False if no state can be like this.
  bool restore(const State& state) {
    if (state.cut > kMostCut || state.flags > (kTorn | kBoth)) return false;
    state_ = state;
    return true;
  }

 private:
  // What the cut transfer lacks first. Numbers in files: they never change.
  static constexpr uint32_t kNothing = 0;
  static constexpr uint32_t kBytes = 1;
  static constexpr uint32_t kRequests = 2;  // and its direction
  static constexpr uint32_t kMostCut = 3;
  // Flags, beside one for each direction of which a whole transfer came.
  static constexpr uint32_t kBoth = 3;
  static constexpr uint32_t kTorn = 4;

  State state_;
};

}  // namespace nixl_otel
