#include "tally.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace nixl_otel {
namespace {

std::atomic<uint64_t> nextTallyId{1};

// Where the fields of versions 3 and up lie, as constants.
constexpr SlotLayout kTypedSlot = releasedLayout(4)->slot;
static_assert(releasedLayout(3)->slot == kTypedSlot && releasedLayout(5)->slot == kTypedSlot);

uint32_t typeAt(const std::byte* slot) { return loadField<uint32_t>(slot, kTypedSlot.type); }
uint64_t valueAt(const std::byte* slot) { return loadField<uint64_t>(slot, kTypedSlot.value); }

// Below it the values of so many slots add up in 64 bits. No transfer has that many bytes or microseconds, but a slot
// may; and who looks on folds a whole ring at once.
constexpr uint32_t kSummableBits = 51;
constexpr uint32_t kSummableSlots = DrainProtocol<int>::kChunkSlots;
static_assert(kSummableSlots < uint64_t{1} << (64 - kSummableBits));

// Bytes per second.
double throughputOf(double bytes, double durationUs) { return bytes * 1e6 / durationUs; }

constexpr uint64_t kTransferTypes = uint64_t{1} << kTxBytes | uint64_t{1} << kRxBytes | uint64_t{1} << kTxRequests |
                                    uint64_t{1} << kRxRequests | uint64_t{1} << kXferTime |
                                    uint64_t{1} << kXferPostTime;

}  // namespace

double wallClockMs() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

Tally::Tally(std::shared_ptr<const TallyPlan> plan)
    : plan_(std::move(plan)),
      id_(nextTallyId.fetch_add(1, std::memory_order_relaxed)),
      startTimeMs_(wallClockMs()),
      knownTypes_(static_cast<uint32_t>(options().typeCategories.size())) {
  for (uint32_t type = 0; type < knownTypes_; ++type) {
    EventTally event;
    event.type = type;
    event.category = options().typeCategories[type];
    event.known = true;
    setHistogram(event, options().typeBounds[type]);
    events_.push_back(std::move(event));
  }
  wholeTransfers_ = knownTypes_ > kXferPostTime;
  for (uint32_t type = 0; type <= kXferPostTime && wholeTransfers_; ++type) {
    wholeTransfers_ = (events_[type].buckets == nullptr) == (type != kXferTime && type != kXferPostTime);
  }
  for (const auto& [name, type] : options().typeNames) {
    if (type < knownTypes_) knownNames_.emplace(name, type);
  }
  for (TransferTally& transfer : transfers_) {
    transfer.sizes.resize(plan_->sizeBuckets.count());
    transfer.durations.resize(plan_->at(plan_->transferBounds())->count());
    transfer.throughputs.resize(plan_->throughputBuckets.count());
  }
}

// In line: called, it would double the time that a whole transfer takes.
[[gnu::always_inline]] inline void Tally::finishTransfer(uint32_t direction, uint64_t bytes, uint64_t durationUs,
                                                         size_t durationBucket) {
  TransferTally& transfer = transfers_[direction];
  ++transfer.count;
  transfer.sizeSum += bytes;
  ++transfer.sizes[plan_->sizeBuckets.find(bytes)];
  transfer.durationSum += durationUs;
  ++transfer.durations[durationBucket];
  if (durationUs == 0) return;
  const double throughput = throughputOf(static_cast<double>(bytes), static_cast<double>(durationUs));
  transfer.throughputSum += throughput;
  ++transfer.throughputs[plan_->throughputBuckets.find(throughput)];
}

void Tally::fold(const RingReader::Chunk& chunk, const TapWants& wants, Tapped& tapped) {
  const SlotLayout layout = chunk.layout.slot;
  if (chunk.gapBefore) breakOff();
  if (chunk.layout.named()) {
    if (!nameCache_) nameCache_ = std::make_unique<NameCacheEntry[]>(size_t{1} << kNameCacheBits);
    foldKeyed(layout, chunk, wants, tapped, [&](const std::byte* slot) { return indexOfName(slot, layout); });
  } else if (chunk.layout.categorised()) {
    foldKeyed(layout, chunk, wants, tapped, [&](const std::byte* slot) {
      const auto category = loadField<int32_t>(slot, layout.category);
      const auto type = loadField<uint32_t>(slot, layout.type);
      // A stored category that is not the type's own makes it another event.
      return type < knownTypes_ && events_[type].category == category ? type : indexOfType(category, type);
    });
  } else {
    foldTyped(chunk.slots, chunk.count, wants, tapped, [&](const std::byte* slot) {
      const uint32_t type = typeAt(slot);
      // Category CUSTOM: nothing says what an unknown number is.
      return type < knownTypes_ ? type : indexOfType(kCustom, type);
    });
  }
  if (chunk.gapAfter) breakOff();
}

// Events are missing here: the halves of a transfer that was cut must not be joined with halves of others.
void Tally::breakOff() {
  assembly_.stage = Stage::kNothing;
  memoryApproximate_ = true;
}

template <typename IndexOf>
inline void Tally::foldEach(const SlotLayout& layout, const std::byte* slots, uint32_t count, const TapWants& wants,
                            Tapped& tapped, IndexOf&& indexOf) {
  const uint64_t drainedUs = wants.all ? static_cast<uint64_t>(wallClockMs() * 1e3) : 0;
  Assembly assembly = assembly_;  // a copy: stores to the tallies could not change it, and the compiler knows that
  const std::byte* slot = slots;
  for (uint32_t i = 0; i < count; ++i, slot += layout.size) {
    const uint32_t index = indexOf(slot);
    const auto value = loadField<uint64_t>(slot, layout.value);
    EventTally& event = events_[index];
    ++event.count;
    event.sum += value;
    event.last = value;
    size_t bucket = 0;
    if (event.buckets != nullptr) {
      bucket = event.buckets->find(value);
      ++event.counts[bucket];
    }
    // The mask has bits for known types only, and an unknown event's index is no type.
    if (wants.all || (index < 64 && (wants.types >> index & 1) != 0 && index < knownTypes_)) {
      const uint64_t timeUs = layout.timestampUs == kAbsent ? drainedUs : loadField<uint64_t>(slot, layout.timestampUs);
      tapped.push_back({id_, index, value, timeUs, event.count});
    }
    if (index <= kXferTime && index < knownTypes_) {
      assemble(assembly, index, value, bucket);
    } else {
      assembly.stage = Stage::kNothing;
    }
  }
  assembly_ = assembly;
}

// Slots with a name or a category become typed ones, a few at a time: their type says where they stand in events_.
template <typename IndexOf>
void Tally::foldKeyed(const SlotLayout& layout, const RingReader::Chunk& chunk, const TapWants& wants, Tapped& tapped,
                      IndexOf&& indexOf) {
  // Whoever taps wants to know their time.
  if (wants.all || wants.types != 0) return foldEach(layout, chunk.slots, chunk.count, wants, tapped, indexOf);
  constexpr uint32_t kFew = 512;
  std::byte typed[kFew * kTypedSlot.size];
  const std::byte* slot = chunk.slots;
  for (uint32_t left = chunk.count; left != 0;) {
    const uint32_t few = std::min(left, kFew);
    for (std::byte* to = typed; to != typed + few * kTypedSlot.size; to += kTypedSlot.size, slot += layout.size) {
      storeField(to, kTypedSlot.type, indexOf(slot));
      storeField(to, kTypedSlot.value, loadField<uint64_t>(slot, layout.value));
    }
    foldTyped(typed, few, wants, tapped, typeAt);
    left -= few;
  }
}

template <typename IndexOf>
void Tally::foldTyped(const std::byte* slots, uint32_t count, const TapWants& wants, Tapped& tapped,
                      IndexOf&& indexOf) {
  const bool whole = wholeTransfers_ && !wants.all && (wants.types & kTransferTypes) == 0;
  if (!whole) return foldEach(kTypedSlot, slots, count, wants, tapped, indexOf);
  const auto mayBegin = [](uint32_t type) { return type == kXferPostTime || type == kXferTime; };
  for (uint32_t done = 0; done < count;) {
    const std::byte* slot = slots + size_t{done} * kTypedSlot.size;
    const uint32_t most = std::min(count - done, kSummableSlots);
    const uint32_t taken =
        typeAt(slot) == kXferPostTime ? foldTransfers<true>(slot, most) : foldTransfers<false>(slot, most);
    done += taken;
    if (taken != 0) continue;
    uint32_t others = 1;  // events until something stands there that may begin a transfer
    while (done + others < count && !mayBegin(typeAt(slot + size_t{others} * kTypedSlot.size))) ++others;
    foldEach(kTypedSlot, slot, others, wants, tapped, indexOf);
    done += others;
  }
}

// Folds the whole transfers that these slots, at most kSummableSlots, begin with, and says how many slots those were.
// What is the same for all of them is added up once at the end, and sums of two directions are kept without asking
// which one it is: whether the next transfer is a read or a write no branch predictor knows.
template <bool kPosted>
uint32_t Tally::foldTransfers(const std::byte* slots, uint32_t count) {
  constexpr uint32_t kEvents = kPosted ? 4 : 3;
  EventTally& posts = events_[kXferPostTime];
  EventTally& times = events_[kXferTime];
  const IntegerBuckets& postBuckets = *posts.buckets;
  const IntegerBuckets& timeBuckets = *times.buckets;
  const IntegerBuckets& sizeBuckets = plan_->sizeBuckets;
  const RealBuckets& throughputBuckets = plan_->throughputBuckets;
  uint64_t* const postCounts = posts.counts.data();
  uint64_t* const timeCounts = times.counts.data();
  uint64_t* const sizeCounts[2] = {transfers_[0].sizes.data(), transfers_[1].sizes.data()};
  uint64_t* const durationCounts[2] = {transfers_[0].durations.data(), transfers_[1].durations.data()};
  uint64_t* const throughputCounts[2] = {transfers_[0].throughputs.data(), transfers_[1].throughputs.data()};
  double throughputSums[2] = {transfers_[0].throughputSum, transfers_[1].throughputSum};
  // Of both directions, and of them those that received.
  uint64_t postSum = 0, durationSum = 0, durationSumRx = 0, byteSum = 0, byteSumRx = 0, received = 0;
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
    if constexpr (kPosted) {
      postSum += postUs;
      ++postCounts[postBuckets.find(postUs, static_cast<double>(static_cast<int64_t>(postUs)))];
    }
    const uint64_t ifReceived = -uint64_t{direction};
    // They fit a signed number, for which the processor has an instruction.
    const auto us = static_cast<double>(static_cast<int64_t>(durationUs));
    const auto size = static_cast<double>(static_cast<int64_t>(bytes));
    const size_t bucket = timeBuckets.find(durationUs, us);
    durationSum += durationUs;
    durationSumRx += durationUs & ifReceived;
    ++timeCounts[bucket];
    ++durationCounts[direction][bucket];
    byteSum += bytes;
    byteSumRx += bytes & ifReceived;
    received += direction;
    ++sizeCounts[direction][sizeBuckets.find(bytes, size)];
    if (durationUs != 0) {
      const double throughput = throughputOf(size, us);
      throughputSums[direction] += throughput;
      ++throughputCounts[direction][throughputBuckets.find(throughput)];
    }
    slot = request + kTypedSlot.size;
  }
  const auto slotsTaken = static_cast<uint32_t>(static_cast<size_t>(slot - slots) / kTypedSlot.size);
  if (slotsTaken == 0) return 0;
  assembly_.stage = Stage::kNothing;
  const uint64_t taken = slotsTaken / kEvents;
  const auto fromEnd = [&](uint64_t transfer, size_t event) {
    return slot - (transfer * kEvents + kEvents - event) * kTypedSlot.size;
  };
  times.add(taken, durationSum, valueAt(fromEnd(0, kEvents - 3)));
  if (kPosted) posts.add(taken, postSum, valueAt(fromEnd(0, 0)));
  const uint64_t transfers[2] = {taken - received, received};
  const uint64_t byteSums[2] = {byteSum - byteSumRx, byteSumRx};
  const uint64_t durationSums[2] = {durationSum - durationSumRx, durationSumRx};
  for (uint32_t direction : {0u, 1u}) {
    if (transfers[direction] == 0) continue;
    TransferTally& transfer = transfers_[direction];
    transfer.count += transfers[direction];
    transfer.sizeSum += byteSums[direction];
    transfer.durationSum += durationSums[direction];
    transfer.throughputSum = throughputSums[direction];
    uint64_t last = 0;
    while (typeAt(fromEnd(last, kEvents - 2)) != kTxBytes + direction) ++last;
    events_[kTxBytes + direction].add(transfers[direction], byteSums[direction], valueAt(fromEnd(last, kEvents - 2)));
    events_[kTxRequests + direction].add(transfers[direction], transfers[direction], 1);
  }
  return slotsTaken;
}

inline void Tally::assemble(Assembly& assembly, uint32_t type, uint64_t value, size_t bucket) {
  const Stage stage = std::exchange(assembly.stage, Stage::kNothing);
  switch (type) {
    case kXferTime:
      assembly.durationUs = value;
      assembly.durationBucket = bucket;
      assembly.stage = Stage::kTime;
      break;
    case kTxBytes:
    case kRxBytes:
      if (stage != Stage::kTime) break;
      assembly.bytes = value;
      assembly.direction = type - kTxBytes;
      assembly.stage = Stage::kBytes;
      break;
    case kTxRequests:
    case kRxRequests:
      if (stage == Stage::kBytes && type - kTxRequests == assembly.direction && value == 1) {
        finishTransfer(assembly.direction, assembly.bytes, assembly.durationUs, assembly.durationBucket);
      }
      break;
    case kMemoryRegistered:
      memoryInUse_ += value;
      break;
    case kMemoryDeregistered:
      // More than was seen registered: some of it was before our time.
      if (value > memoryInUse_) memoryApproximate_ = true;
      memoryInUse_ -= value > memoryInUse_ ? memoryInUse_ : value;
      break;
    default:
      break;
  }
}

void Tally::restart() {
  memoryInUse_ = 0;
  memoryApproximate_ = false;
  assembly_.stage = Stage::kNothing;
}

inline Tally::NameKey::NameKey(const std::byte* slot, const SlotLayout& layout)
    : words{loadField<uint64_t>(slot, layout.name), loadField<uint64_t>(slot, layout.name + 8),
            loadField<uint64_t>(slot, layout.name + 16), loadField<uint64_t>(slot, layout.name + 24)},
      category(kUsed | loadField<uint32_t>(slot, layout.category)) {}

inline bool Tally::NameKey::operator==(const NameKey& other) const {
  return ((words[0] ^ other.words[0]) | (words[1] ^ other.words[1]) | (words[2] ^ other.words[2]) |
          (words[3] ^ other.words[3]) | (category ^ other.category)) == 0;
}

// Products with odd numbers, so that each byte of a name reaches the uppermost bits; they do not wait for each other.
inline size_t Tally::NameKey::cacheSlot() const {
  const uint64_t sum = words[0] * 0x9E3779B97F4A7C15u + words[1] * 0xC2B2AE3D27D4EB4Fu +
                       words[2] * 0x165667B19E3779F9u + words[3] * 0xD6E8FEB86659FD93u + category;
  return sum >> (64 - kNameCacheBits);
}

inline uint32_t Tally::indexOfName(const std::byte* slot, const SlotLayout& layout) {
  const NameKey key(slot, layout);
  NameCacheEntry& entry = nameCache_[key.cacheSlot()];
  if (!(entry.key == key)) [[unlikely]]
    entry = {key, lookUpName(slot, layout)};
  return entry.index;
}

}  // namespace nixl_otel
