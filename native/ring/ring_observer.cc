#include "ring/ring_observer.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace nixl_otel {

RingObserver::RingObserver(RingFile file) : file_(std::move(file)), position_(file_.header.readPos) {}

// Reads `count` slots from `position` on, over the lap's end. Returns fewer if the file is shorter.
std::vector<std::byte> RingObserver::slots(const RingLayout& layout, uint64_t capacity, uint64_t position,
                                           uint64_t count) const {
  const size_t slot = layout.slot.size;
  std::vector<std::byte> bytes(count * slot);
  const size_t toLapEnd = std::min(count, capacity - position) * slot;
  size_t got = readAt(file_.fd.get(), bytes.data(), toLapEnd, layout.slotOffset(position));
  if (got == toLapEnd) {
    got += readAt(file_.fd.get(), bytes.data() + got, bytes.size() - got, layout.slotOffset(0));
  }
  bytes.resize(got / slot * slot);
  return bytes;
}

FileChange RingObserver::change() const {
  struct stat info{};
  ::fstat(file_.fd.get(), &info);
  return FileChange(info);
}

// True if the agent rebuilt its ring since the last observation. Positions alone do not show that: they also return to
// 0 at the end of a lap. A restart truncates the file, which changes its ctime, and leaves the slots after write_pos
// unchanged. The ctime alone does not show it either: stores through a mapping may change it, too.
bool RingObserver::rebuilt(const HeaderFields& header, const FileChange& change) const {
  if (header.layout != file_.header.layout || header.capacity != file_.header.capacity) return true;
  if (!observed_ || !change.hasWorkSince(lastChange_) || header.writePos >= lastWrite_) return false;
  const uint64_t mask = header.capacity - 1;
  const uint64_t held = (lastWrite_ - lastRead_) & mask;
  if (header.readPos == lastRead_ && ((header.writePos - header.readPos) & mask) < held) return true;
  return slots(*header.layout, header.capacity, lastWrite_, ahead_.size() / header.layout->slot.size) == ahead_;
}

bool RingObserver::lapped(const HeaderFields& header) const {
  const uint64_t count = behind_.size() / header.layout->slot.size;
  return observed_ && count != 0 && slots(*header.layout, header.capacity, behindAt_, count) != behind_;
}

void RingObserver::remember(const HeaderFields& header) {
  const uint64_t count = std::min<uint64_t>(kBehind, header.capacity - 1);
  behindAt_ = (position_ - count) & (header.capacity - 1);
  behind_ = slots(*header.layout, header.capacity, behindAt_, count);
  lastWrite_ = header.writePos;
  ahead_ = slots(*header.layout, header.capacity, lastWrite_, std::min<uint64_t>(kAhead, header.capacity - lastWrite_));
  lastRead_ = header.readPos;
  observed_ = true;
}

Observation RingObserver::observe(size_t most) {
  Observation seen;
  const FileChange changed = change();  // read before the header: the next observation sees a change in between
  const HeaderFields header = readHeader(file_.fd.get());
  seen.state = header.state;
  seen.reason = header.reason;
  if (header.state != RingState::kReady) return seen;
  // Pairs with the producer's release store of write_pos. pread reads header and slots and orders nothing itself:
  // without the fence, arm64 could read slots before write_pos.
#ifndef __SANITIZE_THREAD__  // ThreadSanitizer supports no fences and does not see the stores of pread
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  const uint64_t mask = header.capacity - 1;
  seen.layout = header.layout;
  seen.capacity = header.capacity;
  seen.pending = (header.writePos - header.readPos) & mask;
  seen.restarted = rebuilt(header, changed);
  if (seen.restarted) {
    file_.header = header;
    position_ = 0;  // first slot of the new incarnation, which has hardly written a whole lap yet
  } else if (lapped(header)) {
    seen.lapped = true;
    position_ = header.readPos;
  }
  const uint64_t count = std::min<uint64_t>((header.writePos - position_) & mask, most);
  seen.slots = slots(*header.layout, header.capacity, position_, count);
  position_ = (position_ + seen.count()) & mask;
  const bool full = seen.pending == mask;
  seen.stalled = full && observed_ && header.writePos == lastWrite_ && header.readPos == lastRead_;
  lastChange_ = changed;
  remember(header);
  return seen;
}

}  // namespace nixl_otel
