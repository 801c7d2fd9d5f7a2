// Tallies that have counted random events, and their comparison.

#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "check.h"
#include "ring/ring_event.h"
#include "tally/tally.h"

namespace nixl_otel {

inline TallyOptions someOptions() {
  TallyOptions options;
  options.typeCategories = {kTransfer, kTransfer,    kTransfer,    kTransfer, kMemory,
                            kMemory,   kPerformance, kPerformance, kError,    kError};
  options.typeNames = {{"agent_tx_bytes", kTxBytes}, {"agent_xfer_time", kXferTime}};
  options.typeBounds.assign(options.typeCategories.size(), TallyOptions::kNoBounds);
  options.typeBounds[kXferTime] = options.typeBounds[kXferPostTime] = 0;
  options.bounds = {{10, 99.5, 1000}, {5}};
  options.rules = {{.type = 77, .name = std::nullopt, .category = std::nullopt, .bounds = 1},
                   {.type = std::nullopt, .name = "queue_*", .category = std::nullopt, .bounds = 1}};
  options.sizeBounds = {100, 10000};
  options.throughputBounds = {1e6, 1e9};
  return options;
}

inline const std::shared_ptr<const TallyPlan>& somePlan() {
  static const std::shared_ptr<const TallyPlan> plan = planFor(someOptions());
  return plan;
}

// Folds random events of this wire version: whole and broken transfers, memory, unknown types and names, gaps.
class RandomEvents {
 public:
  RandomEvents(int32_t version, uint64_t seed) : layout_(*releasedLayout(version)), random_(seed) {}

  void fold(Tally& tally, uint32_t transfers) {
    events_.clear();
    for (uint32_t i = 0; i < transfers; ++i) addTransfer();
    std::vector<std::byte> slots(events_.size() * layout_.slot.size);
    for (size_t i = 0; i < events_.size(); ++i) {
      encodeSlot(layout_.slot, slots.data() + i * layout_.slot.size, events_[i]);
    }
    const auto count = static_cast<uint32_t>(events_.size());
    tally.fold({layout_, slots.data(), count, below(64) == 0, below(64) == 0, 0}, {}, tapped_);
  }

 private:
  uint64_t below(uint64_t bound) { return random_() % bound; }
  uint64_t value() {
    const uint64_t rare[] = {0, 1, (uint64_t{1} << 51) - 1, uint64_t{1} << 51, UINT64_MAX};
    return below(16) == 0 ? rare[below(5)] : random_() >> (20 + below(40));
  }
  void add(uint32_t type, uint64_t value) {
    const char* names[] = {"agent_tx_bytes", "rx", "tx_requests", "rx_requests", "", "queue_in", "agent_xfer_time"};
    RingEvent event;
    event.type = type;
    event.value = value;
    event.category = type < 4 ? kTransfer : type < 6 ? kMemory : type < 8 ? kPerformance : kCustom;
    event.setName(type < 7 ? names[type] : "name-" + std::to_string(type));
    events_.push_back(event);
  }
  void addTransfer() {
    const auto direction = static_cast<uint32_t>(below(2));
    if (below(4) != 0) add(kXferPostTime, value());
    if (below(32) == 0) add(kXferPostTime, value());
    add(kXferTime, value());
    add(kTxBytes + direction, value());
    if (below(8) != 0) add(kTxRequests + direction, 1);
    if (below(8) == 0) add(kMemoryRegistered + static_cast<uint32_t>(below(2)), value());
    if (below(8) == 0) add(static_cast<uint32_t>(70 + below(10)), value());
    if (below(64) == 0) add(below(2) == 0 ? UINT32_MAX : static_cast<uint32_t>(below(9)), value());
  }

  const RingLayout& layout_;
  std::mt19937_64 random_;
  std::vector<RingEvent> events_;
  std::vector<TappedEvent> tapped_;
};

inline bool sameCounts(const BucketCounts& a, const BucketCounts& b) {
  const auto filled = [](const BucketCounts& counts) {
    std::vector<std::pair<size_t, uint64_t>> all;
    counts.each([&](size_t bucket, uint64_t count) { all.emplace_back(bucket, count); });
    return all;
  };
  return filled(a) == filled(b);
}

inline bool sameEvent(const Tally& a, const Tally& b, size_t index) {
  const EventTally& x = a.events()[index];
  const EventTally& y = b.events()[index];
  const auto counts = [](const Tally& tally, const EventTally& event) {
    std::vector<std::pair<size_t, uint64_t>> all;
    tally.eachCount(event, [&](size_t bucket, uint64_t count) { all.emplace_back(bucket, count); });
    return all;
  };
  return CHECK_EQ(x.type, y.type) && CHECK_EQ(x.category, y.category) && CHECK_EQ(x.known, y.known) &&
         CHECK_EQ(x.overflow, y.overflow) && CHECK_EQ(x.named, y.named) && CHECK_EQ(x.name, y.name) &&
         CHECK_EQ(x.count, y.count) && CHECK(x.sum == y.sum) && CHECK_EQ(x.last, y.last) &&
         CHECK_EQ(x.bounds, y.bounds) && CHECK_EQ(x.buckets, y.buckets) && CHECK(sameCounts(x.counts, y.counts)) &&
         CHECK(counts(a, x) == counts(b, y));
}

inline bool sameClass(const SizeClass* a, const SizeClass* b) {
  if (a == nullptr || b == nullptr) return CHECK(a == b);
  return CHECK_EQ(a->count, b->count) && CHECK(a->sizeSum == b->sizeSum) && CHECK(a->durationSum == b->durationSum) &&
         CHECK(a->postSum == b->postSum) && CHECK(sameCounts(a->durations, b->durations)) &&
         CHECK(sameCounts(a->posts, b->posts));
}

inline bool sameTransfers(const TransferTally& a, const TransferTally& b) {
  for (size_t index = 0; index < SizeClasses::kCount; ++index) {
    if (!sameClass(a.classes.find(index), b.classes.find(index))) return false;
  }
  return CHECK_EQ(a.count, b.count) && CHECK(a.sizeSum == b.sizeSum) && CHECK_EQ(a.throughputSum, b.throughputSum) &&
         CHECK(sameCounts(a.sizes, b.sizes)) && CHECK(sameCounts(a.throughputs, b.throughputs)) &&
         CHECK_EQ(a.endedInPost, b.endedInPost) && CHECK(a.flushSquares == b.flushSquares) &&
         CHECK_EQ(a.countAtFlush, b.countAtFlush);
}

// Counts of the durations of all classes, by bucket.
inline BucketCounts durationsOf(const TransferTally& transfers) {
  BucketCounts all;
  transfers.classes.each([&](size_t, const SizeClass& one) {
    one.durations.each([&](size_t bucket, uint64_t count) {
      while (count-- != 0) all.add(bucket);
    });
  });
  return all;
}

inline bool sameStarts(const Tally& a, const Tally& b) {
  const auto& starts = a.histogramStarts();
  return starts.size() == b.histogramStarts().size() && std::all_of(starts.begin(), starts.end(), [&](const auto& one) {
           const HistogramStart* const other = b.startOf(HistogramOf::Of(one.of), one.index);
           return other != nullptr && other->timeMs == one.timeMs && other->count == one.count && other->sum == one.sum;
         });
}

// Compares everything that a snapshot shows, and the transfer under assembly. The plans are the same object.
inline bool sameTally(const Tally& a, const Tally& b) {
  if (!CHECK_EQ(a.events().size(), b.events().size())) return false;
  for (size_t i = 0; i < a.events().size(); ++i) {
    if (!sameEvent(a, b, i)) return false;
  }
  const Transfers::Assembly& x = a.assembly();
  const Transfers::Assembly& y = b.assembly();
  if (!CHECK_EQ(x.stage, y.stage) || !CHECK_EQ(x.openPosts, y.openPosts)) return false;
  if (x.isBegun() && !CHECK_EQ(x.hasPost, y.hasPost)) return false;
  if (x.stage == Transfers::Assembly::Stage::kPost || (x.isBegun() && x.hasPost)) {
    if (!CHECK_EQ(x.postUs, y.postUs) || !CHECK_EQ(x.postBucket, y.postBucket)) return false;
  }
  if (x.isBegun()) {
    if (!CHECK_EQ(x.durationUs, y.durationUs) || !CHECK_EQ(x.durationBucket, y.durationBucket)) return false;
  }
  if (x.stage == Transfers::Assembly::Stage::kBytes) {
    if (!CHECK_EQ(x.bytes, y.bytes) || !CHECK_EQ(x.direction, y.direction)) return false;
  }
  return sameTransfers(a.transmit(), b.transmit()) && sameTransfers(a.receive(), b.receive()) &&
         CHECK(a.memoryInUse() == b.memoryInUse()) && CHECK_EQ(a.memoryApproximate(), b.memoryApproximate()) &&
         CHECK_EQ(a.startTimeMs(), b.startTimeMs()) && CHECK(sameStarts(a, b)) &&
         CHECK(a.refused().state() == b.refused().state());
}

}  // namespace nixl_otel
