#include "ring_observer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace nixl_otel {

RingObserver::RingObserver(RingFile file) : file_(std::move(file)), place_(file_.header.readPos) {}

// `count` slots from `position` on, going round at the end; shorter where the file is.
std::vector<std::byte> RingObserver::slots(const RingLayout& layout, uint64_t capacity, uint64_t position,
                                           uint64_t count) const {
  std::vector<std::byte> bytes;
  while (count != 0) {
    const uint64_t run = std::min(count, capacity - position);
    const size_t had = bytes.size();
    bytes.resize(had + run * layout.slot.size);
    const ssize_t got = ::pread(file_.fd.get(), bytes.data() + had, run * layout.slot.size,
                                static_cast<off_t>(layout.slotOffset(position)));
    if (got != static_cast<ssize_t>(run * layout.slot.size)) {
      bytes.resize(had + (got > 0 ? static_cast<size_t>(got) / layout.slot.size * layout.slot.size : 0));
      return bytes;
    }
    position = (position + run) & (capacity - 1);
    count -= run;
  }
  return bytes;
}

void RingObserver::witness(const HeaderFields& header) {
  const uint64_t count = std::min<uint64_t>(kWitnesses, header.capacity - 1);
  witnessAt_ = (place_ - count) & (header.capacity - 1);
  witnesses_ = slots(*header.layout, header.capacity, witnessAt_, count);
}

Observation RingObserver::look(size_t most) {
  Observation seen;
  const HeaderFields header = readHeader(file_.fd.get());
  seen.state = header.state;
  seen.reason = header.reason;
  if (header.state != RingState::kReady) return seen;
  seen.layout = header.layout;
  // Both the header and the slots are read by pread, which orders nothing: on arm64 slots could be read before
  // write_pos. Pairs with the producer's release store of write_pos.
#ifndef __SANITIZE_THREAD__  // which knows no fences, and does not see what pread does either
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  const uint64_t mask = header.capacity - 1;
  const bool rebuilt = header.layout != file_.header.layout || header.capacity != file_.header.capacity;
  if (rebuilt) {
    file_.header = header;
    place_ = header.readPos;
    witnesses_.clear();
  } else if (looked_ && !witnesses_.empty()) {
    seen.lapped =
        slots(*header.layout, header.capacity, witnessAt_, witnesses_.size() / header.layout->slot.size) != witnesses_;
    if (seen.lapped) place_ = header.readPos;
  }
  const uint64_t count = std::min<uint64_t>((header.writePos - place_) & mask, most);
  const std::vector<std::byte> bytes = slots(*header.layout, header.capacity, place_, count);
  for (size_t at = 0; at < bytes.size(); at += header.layout->slot.size) {
    seen.events.push_back(decodeSlot(header.layout->slot, bytes.data() + at));
  }
  place_ = (place_ + seen.events.size()) & mask;
  const bool full = ((header.writePos + 1) & mask) == header.readPos;
  seen.stalled = full && looked_ && header.writePos == lastWrite_ && header.readPos == lastRead_;
  lastWrite_ = header.writePos;
  lastRead_ = header.readPos;
  looked_ = true;
  witness(header);
  return seen;
}

}  // namespace nixl_otel
