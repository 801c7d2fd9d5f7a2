#include "tally.h"

#include <time.h>

#include <atomic>
#include <cstring>

#include "ring_event.h"

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

}  // namespace

double wallClockMs() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

Tally::Tally(std::shared_ptr<const TallyOptions> options)
    : options_(std::move(options)),
      id_(nextTallyId.fetch_add(1, std::memory_order_relaxed)),
      startTimeMs_(wallClockMs()),
      knownTypes_(static_cast<uint32_t>(options_->typeCategories.size())) {
  for (uint32_t type = 0; type < knownTypes_; ++type) {
    EventTally event;
    event.type = type;
    event.category = options_->typeCategories[type];
    event.known = true;
    if (event.category == kPerformance) {
      event.histogram = std::make_unique<IntegerHistogram>(options_->durationBoundsUs);
    }
    events_.push_back(std::move(event));
  }
  for (const auto& [name, type] : options_->typeNames) {
    if (type < knownTypes_) knownNames_.emplace(name, type);
  }
  for (TransferTally& transfer : transfers_) {
    transfer.size = IntegerHistogram(options_->sizeBounds);
    transfer.duration = IntegerHistogram(options_->durationBoundsUs);
    transfer.throughput = RealHistogram(options_->throughputBounds);
  }
}

void Tally::fold(const RingReader::Chunk& chunk, uint64_t tapMask, std::vector<TappedEvent>& tapped) {
  const SlotLayout& layout = chunk.layout.slot;
  const std::byte* slot = chunk.slots;
  if (chunk.layout.named()) {
    for (uint32_t i = 0; i < chunk.count; ++i, slot += layout.size) {
      const uint32_t index = indexOfName(slot, layout);
      const auto value = loadField<uint64_t>(slot, layout.value);
      add(events_[index], value);
      observe(index, value, tapMask, tapped);
    }
  } else if (chunk.layout.categorised()) {
    for (uint32_t i = 0; i < chunk.count; ++i, slot += layout.size) {
      const auto category = loadField<int32_t>(slot, layout.category);
      const auto type = loadField<uint32_t>(slot, layout.type);
      const auto value = loadField<uint64_t>(slot, layout.value);
      // A stored category that is not the type's own makes it another event.
      const bool known = type < knownTypes_ && events_[type].category == category;
      const uint32_t index = known ? type : indexOfType(category, type);
      add(events_[index], value);
      observe(index, value, tapMask, tapped);
    }
  } else {
    for (uint32_t i = 0; i < chunk.count; ++i, slot += layout.size) {
      const auto type = loadField<uint32_t>(slot, layout.type);
      const auto value = loadField<uint64_t>(slot, layout.value);
      // Category CUSTOM: nothing says what an unknown number is.
      const uint32_t index = type < knownTypes_ ? type : indexOfType(kCustom, type);
      add(events_[index], value);
      observe(index, value, tapMask, tapped);
    }
  }
  if (chunk.gapAfter) {
    // The two halves of a transfer that was cut here must not be joined with halves of others.
    stage_ = Stage::kNothing;
    memoryApproximate_ = true;
  }
}

inline void Tally::add(EventTally& event, uint64_t value) {
  ++event.count;
  event.sum += value;
  event.last = value;
  if (event.histogram) event.histogram->add(value);
}

inline void Tally::observe(uint32_t type, uint64_t value, uint64_t tapMask, std::vector<TappedEvent>& tapped) {
  if (type < 64 && (tapMask >> type & 1) != 0 && type < knownTypes_) tapped.push_back({id_, type, value});
  if (type <= kXferTime && type < knownTypes_) {
    assemble(type, value);
  } else {
    stage_ = Stage::kNothing;
  }
}

inline void Tally::assemble(uint32_t type, uint64_t value) {
  const Stage stage = stage_;
  stage_ = Stage::kNothing;
  switch (type) {
    case kXferTime:
      duration_ = value;
      stage_ = Stage::kTime;
      break;
    case kTxBytes:
    case kRxBytes:
      if (stage != Stage::kTime) break;
      bytes_ = value;
      direction_ = type - kTxBytes;
      stage_ = Stage::kBytes;
      break;
    case kTxRequests:
    case kRxRequests:
      if (stage == Stage::kBytes && type - kTxRequests == direction_ && value == 1)
        finishTransfer(transfers_[direction_]);
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

void Tally::finishTransfer(TransferTally& transfer) {
  ++transfer.count;
  transfer.size.add(bytes_);
  transfer.duration.add(duration_);
  if (duration_ != 0) transfer.throughput.add(static_cast<double>(bytes_) * 1e6 / static_cast<double>(duration_));
}

void Tally::restart() {
  memoryInUse_ = 0;
  memoryApproximate_ = false;
  stage_ = Stage::kNothing;
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
    if (category == kPerformance) event.histogram = std::make_unique<IntegerHistogram>(options_->durationBoundsUs);
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

}  // namespace nixl_otel
