// Finished transfers, assembled from consecutive events: xfer_time, then bytes, then one request of the same direction.
// From wire version 4 on, post_time stands before them. Earlier agents write it when they post, so it is that of the
// transfer only if no other one is open.
//
// Thread safety: none. At most one thread at a time may use a Transfers object.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ring/ring_event.h"
#include "ring/ring_layout.h"
#include "tally/accumulators.h"
#include "tally/refused_events.h"
#include "tally/tally_plan.h"

namespace nixl_otel {

// Slot of wire versions 3 and up. A constant, so that the compiler knows the offsets.
inline constexpr SlotLayout kTypedSlot = releasedLayout(4)->slot;
static_assert(releasedLayout(3)->slot == kTypedSlot && releasedLayout(5)->slot == kTypedSlot);

inline uint32_t typeAt(const std::byte* slot) { return loadField<uint32_t>(slot, kTypedSlot.type); }
inline uint64_t valueAt(const std::byte* slot) { return loadField<uint64_t>(slot, kTypedSlot.value); }

class Transfers {
 public:
  // The transfer under assembly.
  struct Assembly {
    enum class Stage : uint8_t { kNothing, kTime, kBytes, kPost };
    Stage stage = Stage::kNothing;
    bool hasPost = false;    // from the time on: the post before it is that of this transfer
    uint32_t openPosts = 0;  // posts without a time yet
    uint32_t direction = 0;
    uint64_t postUs = 0;
    size_t postBucket = 0;
    uint64_t durationUs = 0;
    size_t durationBucket = 0;
    uint64_t bytes = 0;

    // Every transfer has a time, but not every one a post.
    bool isBegun() const { return stage == Stage::kTime || stage == Stage::kBytes; }
    void reset() { stage = Stage::kNothing; }
  };

  explicit Transfers(std::shared_ptr<const TallyPlan> plan);

  const TransferTally& operator[](uint32_t direction) const { return tallies_[direction]; }
  TransferTally& at(uint64_t direction) { return tallies_[direction]; }
  Assembly assembly;
  RefusedEvents refused;
  bool stagesPostsApart = false;  // the agent's wire version is below 4

  // Adds an event to `assembling`. Callers pass a local copy of `assembly`: then the compiler knows that stores to the
  // tallies do not change it.
  void add(Assembly& assembling, uint32_t type, uint64_t value, size_t bucket, std::vector<EventTally>& events);
  // Notes an event of a type that belongs to no transfer.
  void interrupt(Assembly& assembling, uint32_t type) {
    if (assembling.isBegun() && type != kEventsDropped) refused.noteTorn();
    assembling.reset();
  }
  // Notes that the ring was full here, so that events may be missing.
  void noteFull() {
    if (assembly.stage == Assembly::Stage::kTime) refused.noteCutBeforeBytes();
    if (assembly.stage == Assembly::Stage::kBytes) refused.noteCutBeforeRequests(assembly.direction);
    assembly.reset();
  }
  // Notes that a foreign consumer took events here.
  void noteForeignMove() {
    refused.forgetCut();
    assembly = {};
  }
  // Notes a new incarnation of the agent.
  void restart() {
    refused.restart();
    assembly = {};
  }

  // True if fold() can be used: it assumes that only the two times among types 0 to 7 have histograms.
  static bool canFold(const std::vector<EventTally>& events);
  // Folds whole transfers from the first of these typed slots on. Returns the number of slots folded, which has a
  // limit. Nearly all events of an agent belong to whole transfers.
  //
  // Requires: canFold(events).
  uint32_t fold(const std::byte* slots, uint32_t count, std::vector<EventTally>& events);

 private:
  template <bool kPosted>
  uint32_t foldWhole(const std::byte* slots, uint32_t count, std::vector<EventTally>& events);
  void finish(const Assembly& assembled, std::vector<EventTally>& events);
  // Returns bytes per second.
  static double throughputOf(double bytes, double durationUs) { return bytes * 1e6 / durationUs; }
  // True if both times are within 2 % of each other.
  static bool endedInPost(uint64_t durationUs, uint64_t postUs) {
    const uint64_t apart = durationUs > postUs ? durationUs - postUs : postUs - durationUs;
    return apart <= durationUs / 50;
  }

  std::shared_ptr<const TallyPlan> plan_;
  TransferTally tallies_[2];  // sent, received
};

// Inlined: a call would double the time of a whole transfer.
[[gnu::always_inline]] inline void Transfers::finish(const Assembly& assembled, std::vector<EventTally>& events) {
  TransferTally& transfer = tallies_[assembled.direction];
  SizeClass& sized = transfer.classes.at(SizeClasses::indexOf(assembled.bytes));
  ++transfer.count;
  ++sized.count;
  refused.noteWhole(assembled.direction);
  transfer.sizeSum += assembled.bytes;
  sized.sizeSum += assembled.bytes;
  transfer.sizes.add(plan_->sizeBuckets.find(assembled.bytes));
  sized.durationSum += assembled.durationUs;
  EventTally& times = events[kXferTime];
  if (times.buckets != nullptr) {
    sized.durations.add(assembled.durationBucket);
    times.counts.remove(assembled.durationBucket);
  } else {
    sized.durations.add(plan_->at(plan_->transferBounds())->find(assembled.durationUs));
  }
  if (assembled.hasPost) {
    sized.postSum += assembled.postUs;
    sized.posts.add(assembled.postBucket);
    events[kXferPostTime].counts.remove(assembled.postBucket);
    transfer.endedInPost += endedInPost(assembled.durationUs, assembled.postUs);
  }
  if (assembled.durationUs == 0) return;
  const double throughput =
      throughputOf(static_cast<double>(assembled.bytes), static_cast<double>(assembled.durationUs));
  transfer.throughputSum += throughput;
  transfer.throughputs.add(plan_->throughputBuckets.find(throughput));
}

inline void Transfers::add(Assembly& assembling, uint32_t type, uint64_t value, size_t bucket,
                           std::vector<EventTally>& events) {
  using Stage = Assembly::Stage;
  const bool isBegun = assembling.isBegun();
  const Stage stage = std::exchange(assembling.stage, Stage::kNothing);
  const uint32_t next = stage == Stage::kTime ? type & ~1u : type - assembling.direction;
  if (isBegun && next != (stage == Stage::kTime ? kTxBytes : kTxRequests)) refused.noteTorn();
  switch (type) {
    case kXferPostTime:
      ++assembling.openPosts;
      assembling.postUs = value;
      assembling.postBucket = bucket;
      // Posts without a histogram are in no class.
      if (events[kXferPostTime].buckets != nullptr) assembling.stage = Stage::kPost;
      break;
    case kXferTime:
      assembling.hasPost = stage == Stage::kPost && !(stagesPostsApart && assembling.openPosts != 1);
      assembling.openPosts -= assembling.openPosts != 0;
      assembling.durationUs = value;
      assembling.durationBucket = bucket;
      assembling.stage = Stage::kTime;
      break;
    case kTxBytes:
    case kRxBytes:
      if (stage != Stage::kTime) break;
      assembling.bytes = value;
      assembling.direction = type - kTxBytes;
      assembling.stage = Stage::kBytes;
      break;
    case kTxRequests:
    case kRxRequests:
      if (stage == Stage::kBytes && type - kTxRequests == assembling.direction && value == 1)
        finish(assembling, events);
      break;
    default:
      break;
  }
}

}  // namespace nixl_otel
