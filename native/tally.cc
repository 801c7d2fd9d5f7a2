#include "tally.h"

#include <fnmatch.h>
#include <time.h>

#include <atomic>
#include <cstring>
#include <utility>

namespace nixl_otel {
namespace {

std::atomic<uint64_t> nextTallyId{1};

uint64_t mixBits(uint64_t h) {
  h ^= h >> 32;
  h *= 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

size_t cacheSlot(const std::byte* name, int32_t category, size_t entries) {
  uint64_t words[kNameBytes / 8];
  std::memcpy(words, name, sizeof words);
  uint64_t h = static_cast<uint32_t>(category);
  for (const uint64_t word : words) h = mixBits(h ^ word);
  return h & (entries - 1);
}

// Where the fields of versions 3 and up lie, as constants.
constexpr SlotLayout kTypedSlot = releasedLayout(4)->slot;
static_assert(releasedLayout(3)->slot == kTypedSlot && releasedLayout(5)->slot == kTypedSlot);

uint32_t typeAt(const std::byte* slot) { return loadField<uint32_t>(slot, kTypedSlot.type); }
uint64_t valueAt(const std::byte* slot) { return loadField<uint64_t>(slot, kTypedSlot.value); }

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
  const double throughput = static_cast<double>(bytes) * 1e6 / static_cast<double>(durationUs);
  transfer.throughputSum += throughput;
  ++transfer.throughputs[plan_->throughputBuckets.find(throughput)];
}

void Tally::fold(const RingReader::Chunk& chunk, const TapWants& wants, Tapped& tapped) {
  const SlotLayout layout = chunk.layout.slot;
  if (chunk.layout.named()) {
    foldEach(layout, chunk.slots, chunk.count, wants, tapped,
             [&](const std::byte* slot) { return indexOfName(slot, layout); });
  } else if (chunk.layout.categorised()) {
    foldEach(layout, chunk.slots, chunk.count, wants, tapped, [&](const std::byte* slot) {
      const auto category = loadField<int32_t>(slot, layout.category);
      const auto type = loadField<uint32_t>(slot, layout.type);
      // A stored category that is not the type's own makes it another event.
      return type < knownTypes_ && events_[type].category == category ? type : indexOfType(category, type);
    });
  } else {
    foldTyped(layout, chunk.slots, chunk.count, wants, tapped);
  }
  if (chunk.gapAfter) {
    // The two halves of a transfer that was cut here must not be joined with halves of others.
    assembly_.stage = Stage::kNothing;
    memoryApproximate_ = true;
  }
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
      tapped.push_back({id_, index, value, timeUs});
    }
    if (index <= kXferTime && index < knownTypes_) {
      assemble(assembly, index, value, bucket);
    } else {
      assembly.stage = Stage::kNothing;
    }
  }
  assembly_ = assembly;
}

void Tally::foldTyped(const SlotLayout& layout, const std::byte* slots, uint32_t count, const TapWants& wants,
                      Tapped& tapped) {
  const auto indexOf = [&](const std::byte* slot) {
    const auto type = loadField<uint32_t>(slot, layout.type);
    // Category CUSTOM: nothing says what an unknown number is.
    return type < knownTypes_ ? type : indexOfType(kCustom, type);
  };
  const bool whole = wholeTransfers_ && !wants.all && (wants.types & kTransferTypes) == 0;
  if (!whole) return foldEach(layout, slots, count, wants, tapped, indexOf);
  const auto mayBegin = [](uint32_t type) { return type == kXferPostTime || type == kXferTime; };
  for (uint32_t done = 0; done < count;) {
    const std::byte* slot = slots + size_t{done} * kTypedSlot.size;
    const uint32_t taken = typeAt(slot) == kXferPostTime ? foldTransfers<true>(slot, count - done)
                                                         : foldTransfers<false>(slot, count - done);
    done += taken;
    if (taken != 0) continue;
    uint32_t others = 1;  // events until something stands there that may begin a transfer
    while (done + others < count && !mayBegin(typeAt(slot + size_t{others} * kTypedSlot.size))) ++others;
    foldEach(kTypedSlot, slot, others, wants, tapped, indexOf);
    done += others;
  }
}

// Folds the whole transfers that these slots begin with, and says how many slots those were. What is the same for all
// of them is added up once at the end.
template <bool kPosted>
uint32_t Tally::foldTransfers(const std::byte* slots, uint32_t count) {
  constexpr uint32_t kEvents = kPosted ? 4 : 3;
  EventTally& posts = events_[kXferPostTime];
  EventTally& times = events_[kXferTime];
  const IntegerBuckets& postBuckets = *posts.buckets;
  const IntegerBuckets& timeBuckets = *times.buckets;
  const uint64_t before[2] = {transfers_[0].count, transfers_[1].count};
  const WideSum bytesBefore[2] = {transfers_[0].sizeSum, transfers_[1].sizeSum};
  uint64_t lastBytes[2] = {events_[kTxBytes].last, events_[kRxBytes].last};
  const std::byte* slot = slots;
  const std::byte* const end = slots + size_t{count} * kTypedSlot.size;
  while (static_cast<size_t>(end - slot) >= kEvents * kTypedSlot.size) {
    const std::byte* const time = kPosted ? slot + kTypedSlot.size : slot;
    const std::byte* const bytes = time + kTypedSlot.size;
    const std::byte* const request = bytes + kTypedSlot.size;
    const uint32_t direction = typeAt(bytes) - kTxBytes;
    const uint32_t wrongType = (kPosted ? typeAt(slot) ^ kXferPostTime : 0) | (typeAt(time) ^ kXferTime) |
                               (direction & ~1u) | (typeAt(request) ^ (kTxRequests + direction));
    if ((wrongType | (valueAt(request) ^ 1)) != 0) break;
    if constexpr (kPosted) {
      posts.last = valueAt(slot);
      posts.sum += posts.last;
      ++posts.counts[postBuckets.find(posts.last)];
    }
    const uint64_t durationUs = valueAt(time);
    const size_t bucket = timeBuckets.find(durationUs);
    times.sum += durationUs;
    times.last = durationUs;
    ++times.counts[bucket];
    lastBytes[direction] = valueAt(bytes);
    finishTransfer(direction, lastBytes[direction], durationUs, bucket);
    slot = request + kTypedSlot.size;
  }
  const auto slotsTaken = static_cast<uint32_t>(static_cast<size_t>(slot - slots) / kTypedSlot.size);
  if (slotsTaken == 0) return 0;
  assembly_.stage = Stage::kNothing;
  times.count += slotsTaken / kEvents;
  if (kPosted) posts.count += slotsTaken / kEvents;
  for (uint32_t direction : {0u, 1u}) {
    const uint64_t transfers = transfers_[direction].count - before[direction];
    if (transfers == 0) continue;
    EventTally& bytes = events_[kTxBytes + direction];
    bytes.count += transfers;
    bytes.sum += transfers_[direction].sizeSum - bytesBefore[direction];
    bytes.last = lastBytes[direction];
    EventTally& requests = events_[kTxRequests + direction];
    requests.count += transfers;
    requests.sum += transfers;
    requests.last = 1;
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

uint32_t Tally::indexOfName(const std::byte* slot, const SlotLayout& layout) {
  const std::byte* raw = slot + layout.name;
  const auto category = loadField<int32_t>(slot, layout.category);
  if (!nameCache_) nameCache_ = std::make_unique<NameCacheEntry[]>(kNameCacheEntries);
  NameCacheEntry& entry = nameCache_[cacheSlot(raw, category, kNameCacheEntries)];
  if (entry.used && entry.category == category && std::memcmp(entry.name, raw, kNameBytes) == 0) return entry.index;

  // What stands behind the NUL is not part of the name.
  const auto* text = reinterpret_cast<const char*>(raw);
  std::string name(text, strnlen(text, kNameBytes));
  uint32_t index = 0;
  const auto known = knownNames_.find(name);
  if (known != knownNames_.end() && events_[known->second].category == category) {
    index = known->second;
  } else {
    index = indexOfUnknown("n" + std::to_string(category) + ":" + name, category, EventTally::kNoType, name);
  }
  std::memcpy(entry.name, raw, kNameBytes);
  entry.category = category;
  entry.index = index;
  entry.used = true;
  return index;
}

uint32_t Tally::indexOfType(int32_t category, uint32_t type) {
  return indexOfUnknown("t" + std::to_string(category) + ":" + std::to_string(type), category, type, "");
}

uint32_t Tally::indexOfUnknown(std::string key, int32_t category, uint32_t type, std::string name) {
  const auto found = unknownKeys_.find(key);
  if (found != unknownKeys_.end()) return found->second;
  EventTally event;
  if (unknownKeys_.size() < kMaxUnknownKeys) {
    event.type = type;
    event.category = category;
    event.name = std::move(name);
    setHistogram(event, boundsOfUnknown(event));
  } else {
    if (events_.back().overflow) return static_cast<uint32_t>(events_.size() - 1);
    event.category = -1;
    event.overflow = true;
  }
  const auto index = static_cast<uint32_t>(events_.size());
  if (!event.overflow) unknownKeys_.emplace(std::move(key), index);
  events_.push_back(std::move(event));
  return index;
}

void Tally::setHistogram(EventTally& event, uint32_t bounds) const {
  event.bounds = bounds;
  event.buckets = plan_->at(bounds);
  if (event.buckets != nullptr) event.counts.resize(event.buckets->count());
}

uint32_t Tally::boundsOfUnknown(const EventTally& event) const {
  for (const HistogramRule& rule : options().rules) {
    const bool named = event.type == EventTally::kNoType;
    if (rule.type && (named || *rule.type != event.type)) continue;
    if (rule.name && (!named || ::fnmatch(rule.name->c_str(), event.name.c_str(), 0) != 0)) continue;
    if (rule.category && *rule.category != event.category) continue;
    return rule.bounds;
  }
  return event.category == kPerformance ? 0 : TallyOptions::kNoBounds;
}

}  // namespace nixl_otel
