#include "tally/tally.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "posix/posix.h"

namespace nixl_otel {
namespace {

std::atomic<uint64_t> nextTallyId{1};

constexpr uint64_t kTransferTypes = uint64_t{1} << kTxBytes | uint64_t{1} << kRxBytes | uint64_t{1} << kTxRequests |
                                    uint64_t{1} << kRxRequests | uint64_t{1} << kXferTime |
                                    uint64_t{1} << kXferPostTime;

}  // namespace

Tally::Tally(std::shared_ptr<const TallyPlan> plan)
    : plan_(std::move(plan)),
      id_(nextTallyId.fetch_add(1, std::memory_order_relaxed)),
      startTimeMs_(wallClockMs()),
      knownTypes_(static_cast<uint32_t>(options().typeCategories.size())),
      transfers_(plan_) {
  for (uint32_t type = 0; type < knownTypes_; ++type) {
    EventTally event;
    event.type = type;
    event.category = options().typeCategories[type];
    event.known = true;
    setHistogram(event, options().typeBounds[type]);
    events_.push_back(std::move(event));
  }
  canFoldTransfers_ = Transfers::canFold(events_);
  for (const auto& [name, type] : options().typeNames) {
    if (type < knownTypes_) knownNames_.emplace(name, type);
  }
}

void Tally::fold(const RingReader::Chunk& chunk, const TapWants& wants, Tapped& tapped) {
  const SlotLayout layout = chunk.layout.slot;
  if (chunk.gapBefore) {
    transfers_.noteForeignMove();
    memoryApproximate_ = true;
  }
  const bool mayRefuse = chunk.layout.version >= RefusedEvents::kFirstWireVersion;
  transfers_.stagesPostsApart = chunk.layout.version < RefusedEvents::kFirstWireVersion;
  if (mayRefuse && chunk.count != 0) transfers_.refused.noteNext(typeAt(chunk.slots));
  if (chunk.layout.named()) {
    if (nameCache_.empty()) nameCache_.resize(size_t{1} << kNameCacheBits);
    foldKeyed(layout, chunk, wants, tapped, [&](const std::byte* slot) { return indexOfName(slot, layout); });
  } else if (chunk.layout.categorised()) {
    foldKeyed(layout, chunk, wants, tapped, [&](const std::byte* slot) {
      const auto category = loadField<int32_t>(slot, layout.category);
      const auto type = loadField<uint32_t>(slot, layout.type);
      // An event whose category is not that of its type is an unknown event.
      return type < knownTypes_ && events_[type].category == category ? type : indexOfType(category, type);
    });
  } else {
    foldTyped(chunk.slots, chunk.count, wants, tapped, [&](const std::byte* slot) {
      const uint32_t type = typeAt(slot);
      // These wire versions store no category, so an unknown type gets CUSTOM.
      return type < knownTypes_ ? type : indexOfType(kCustom, type);
    });
  }
  if (!chunk.gapAfter) return;
  // Events are missing here: later ones do not continue the transfer under assembly.
  if (mayRefuse) {
    transfers_.noteFull();
  } else {
    transfers_.assembly.reset();
  }
  memoryApproximate_ = true;
}

template <typename IndexOf>
inline void Tally::foldEach(const SlotLayout& layout, const std::byte* slots, uint32_t count, const TapWants& wants,
                            Tapped& tapped, IndexOf&& indexOf) {
  const uint64_t drainedUs = wants.all ? static_cast<uint64_t>(wallClockMs() * 1e3) : 0;
  Transfers::Assembly assembly = transfers_.assembly;  // a copy, see Transfers::add()
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
      event.counts.add(bucket);
    }
    // The bits of `wants` are for known types only. The index of an unknown event may be below 64, too.
    if (wants.all || (index < 64 && (wants.types >> index & 1) != 0 && index < knownTypes_)) {
      const uint64_t timeUs = layout.timestampUs == kAbsent ? drainedUs : loadField<uint64_t>(slot, layout.timestampUs);
      tapped.push_back({id_, index, value, timeUs, event.count});
    }
    if (index <= kXferPostTime && index < knownTypes_) {
      if (index == kMemoryRegistered || index == kMemoryDeregistered) noteMemory(index, value);
      transfers_.add(assembly, index, value, bucket, events_);
    } else {
      transfers_.interrupt(assembly, index);
    }
  }
  transfers_.assembly = assembly;
}

// Converts slots with a name or a category to typed slots, a few at a time, and folds those. Their type is the index in
// events_.
template <typename IndexOf>
void Tally::foldKeyed(const SlotLayout& layout, const RingReader::Chunk& chunk, const TapWants& wants, Tapped& tapped,
                      IndexOf&& indexOf) {
  // A tap needs the time of events, which typed slots lack.
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
  const bool whole = canFoldTransfers_ && !wants.all && (wants.types & kTransferTypes) == 0;
  if (!whole) return foldEach(kTypedSlot, slots, count, wants, tapped, indexOf);
  const auto mayBegin = [](uint32_t type) { return type == kXferPostTime || type == kXferTime; };
  for (uint32_t done = 0; done < count;) {
    const std::byte* slot = slots + size_t{done} * kTypedSlot.size;
    const uint32_t taken = transfers_.fold(slot, count - done, events_);
    done += taken;
    if (taken != 0) continue;
    uint32_t others = 1;  // number of events before the next one that may begin a transfer
    while (done + others < count && !mayBegin(typeAt(slot + size_t{others} * kTypedSlot.size))) ++others;
    foldEach(kTypedSlot, slot, others, wants, tapped, indexOf);
    done += others;
  }
}

inline void Tally::noteMemory(uint32_t type, uint64_t value) {
  if (type == kMemoryRegistered) {
    memoryInUse_ += value;
    return;
  }
  // The agent deregisters more than this tally has counted: it registered some memory before the tally began.
  if (value > memoryInUse_) memoryApproximate_ = true;
  memoryInUse_ -= value > memoryInUse_ ? memoryInUse_ : value;
}

void Tally::restart() {
  memoryInUse_ = 0;
  memoryApproximate_ = false;
  transfers_.restart();
}

inline Tally::NameKey::NameKey(const std::byte* slot, const SlotLayout& layout)
    : words{loadField<uint64_t>(slot, layout.name), loadField<uint64_t>(slot, layout.name + 8),
            loadField<uint64_t>(slot, layout.name + 16), loadField<uint64_t>(slot, layout.name + 24)},
      category(kUsed | loadField<uint32_t>(slot, layout.category)) {}

inline bool Tally::NameKey::operator==(const NameKey& other) const {
  return ((words[0] ^ other.words[0]) | (words[1] ^ other.words[1]) | (words[2] ^ other.words[2]) |
          (words[3] ^ other.words[3]) | (category ^ other.category)) == 0;
}

// The products with odd numbers carry each byte of the name to the uppermost bits. They do not depend on each other, so
// the processor computes them in parallel.
inline size_t Tally::NameKey::cacheSlot() const {
  const uint64_t sum = words[0] * 0x9E3779B97F4A7C15u + words[1] * 0xC2B2AE3D27D4EB4Fu +
                       words[2] * 0x165667B19E3779F9u + words[3] * 0xD6E8FEB86659FD93u + category;
  return sum >> (64 - kNameCacheBits);
}

inline uint32_t Tally::indexOfName(const std::byte* slot, const SlotLayout& layout) {
  const NameKey key(slot, layout);
  NameCacheEntry& entry = nameCache_[key.cacheSlot()];
  if (!(entry.key == key)) [[unlikely]]
    entry = {key, findName(slot, layout)};
  return entry.index;
}

}  // namespace nixl_otel
