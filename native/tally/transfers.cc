#include "tally/transfers.h"

#include <algorithm>

#include "ring/drain_protocol.h"

namespace nixl_otel {
namespace {

// The sum of kSummableSlots values of kSummableBits bits fits into 64 bits. No real transfer has larger values, but any
// slot may. The number of slots needs a limit, because an observer folds a whole ring at once.
constexpr uint32_t kSummableBits = 51;
constexpr uint32_t kSummableSlots = DrainProtocol<int>::kChunkSlots;
static_assert(kSummableSlots < uint64_t{1} << (64 - kSummableBits));

}  // namespace

Transfers::Transfers(std::shared_ptr<const TallyPlan> plan) : plan_(std::move(plan)) {}

bool Transfers::canFold(const std::vector<EventTally>& events) {
  if (events.size() <= kXferPostTime) return false;
  for (uint32_t type = 0; type <= kXferPostTime; ++type) {
    const bool isTime = type == kXferTime || type == kXferPostTime;
    if ((events[type].buckets != nullptr) != isTime) return false;
  }
  return true;
}

uint32_t Transfers::fold(const std::byte* slots, uint32_t count, std::vector<EventTally>& events) {
  const bool wantsPost = assembly.stage == Assembly::Stage::kPost || (stagesPostsApart && assembly.openPosts != 0);
  if (wantsPost) return 0;
  const uint32_t most = std::min(count, kSummableSlots);
  return typeAt(slots) == kXferPostTime ? foldWhole<true>(slots, most, events) : foldWhole<false>(slots, most, events);
}

// Folds whole transfers. Counts and sums of both directions are added to the tallies once at the end. The directions
// are summed without a branch, because no branch predictor knows whether the next transfer is a read or a write.
//
// Requires: count <= kSummableSlots.
template <bool kPosted>
uint32_t Transfers::foldWhole(const std::byte* slots, uint32_t count, std::vector<EventTally>& events) {
  constexpr uint32_t kEvents = kPosted ? 4 : 3;
  EventTally& posts = events[kXferPostTime];
  EventTally& times = events[kXferTime];
  const IntegerBuckets& postBuckets = *posts.buckets;
  const IntegerBuckets& timeBuckets = *times.buckets;
  const IntegerBuckets& sizeBuckets = plan_->sizeBuckets;
  const RealBuckets& throughputBuckets = plan_->throughputBuckets;
  TransferTally* const both[2] = {&tallies_[0], &tallies_[1]};
  double throughputSums[2] = {tallies_[0].throughputSum, tallies_[1].throughputSum};
  // Sums of both directions together, and (Rx) of received transfers.
  uint64_t postSum = 0, durationSum = 0, byteSum = 0, byteSumRx = 0, received = 0, inPost = 0, inPostRx = 0;
  const std::byte* slot = slots;
  const std::byte* const end = slots + size_t{count} * kTypedSlot.size;
  while (static_cast<size_t>(end - slot) >= kEvents * kTypedSlot.size) {
    const std::byte* const timeSlot = kPosted ? slot + kTypedSlot.size : slot;
    const std::byte* const byteSlot = timeSlot + kTypedSlot.size;
    const std::byte* const request = byteSlot + kTypedSlot.size;
    const uint32_t direction = typeAt(byteSlot) - kTxBytes;
    const uint32_t wrongType = (kPosted ? typeAt(slot) ^ kXferPostTime : 0) | (typeAt(timeSlot) ^ kXferTime) |
                               (direction & ~1u) | (typeAt(request) ^ (kTxRequests + direction));
    const uint64_t postUs = kPosted ? valueAt(slot) : 0;
    const uint64_t durationUs = valueAt(timeSlot);
    const uint64_t bytes = valueAt(byteSlot);
    const uint64_t tooLarge = (postUs | durationUs | bytes) >> kSummableBits;
    if ((wrongType | (valueAt(request) ^ 1) | tooLarge) != 0) break;
    const uint64_t ifReceived = -uint64_t{direction};
    // Both values fit into a signed integer, which the processor converts to a double with one instruction.
    const auto us = static_cast<double>(static_cast<int64_t>(durationUs));
    const auto size = static_cast<double>(static_cast<int64_t>(bytes));
    const size_t bucket = timeBuckets.find(durationUs, us);
    durationSum += durationUs;
    TransferTally& transfer = *both[direction];
    SizeClass& sized = transfer.classes.at(SizeClasses::indexOf(bytes));
    ++sized.count;
    sized.sizeSum += bytes;
    sized.durationSum += durationUs;
    sized.durations.add(bucket);
    if constexpr (kPosted) {
      postSum += postUs;
      sized.postSum += postUs;
      sized.posts.add(postBuckets.find(postUs, static_cast<double>(static_cast<int64_t>(postUs))));
      const uint64_t ended = endedInPost(durationUs, postUs);
      inPost += ended;
      inPostRx += ended & ifReceived;
    }
    byteSum += bytes;
    byteSumRx += bytes & ifReceived;
    received += direction;
    transfer.sizes.add(sizeBuckets.find(bytes, size));
    if (durationUs != 0) {
      const double throughput = throughputOf(size, us);
      throughputSums[direction] += throughput;
      transfer.throughputs.add(throughputBuckets.find(throughput));
    }
    slot = request + kTypedSlot.size;
  }
  const auto slotsTaken = static_cast<uint32_t>(static_cast<size_t>(slot - slots) / kTypedSlot.size);
  if (slotsTaken == 0) return 0;
  interrupt(assembly, typeAt(slots));
  const uint64_t taken = slotsTaken / kEvents;
  const auto fromEnd = [&](uint64_t transfer, size_t event) {
    return slot - (transfer * kEvents + kEvents - event) * kTypedSlot.size;
  };
  times.add(taken, durationSum, valueAt(fromEnd(0, kEvents - 3)));
  if (kPosted) posts.add(taken, postSum, valueAt(fromEnd(0, 0)));
  const uint64_t transfers[2] = {taken - received, received};
  const uint64_t byteSums[2] = {byteSum - byteSumRx, byteSumRx};
  const uint64_t inPosts[2] = {inPost - inPostRx, inPostRx};
  for (uint32_t direction : {0u, 1u}) {
    if (transfers[direction] == 0) continue;
    TransferTally& transfer = tallies_[direction];
    transfer.count += transfers[direction];
    refused.noteWhole(direction);
    transfer.sizeSum += byteSums[direction];
    transfer.endedInPost += inPosts[direction];
    transfer.throughputSum = throughputSums[direction];
    uint64_t last = 0;
    while (typeAt(fromEnd(last, kEvents - 2)) != kTxBytes + direction) ++last;
    events[kTxBytes + direction].add(transfers[direction], byteSums[direction], valueAt(fromEnd(last, kEvents - 2)));
    events[kTxRequests + direction].add(transfers[direction], transfers[direction], 1);
  }
  return slotsTaken;
}

}  // namespace nixl_otel
