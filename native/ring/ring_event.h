// One event, and its encoding in a slot of any wire version.

#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "ring/ring_layout.h"

namespace nixl_otel {

// NIXL's telemetry categories (nixl_telemetry_category_t).
enum Category : int32_t {
  kMemory = 0,
  kTransfer = 1,
  kConnection = 2,
  kBackend = 3,
  kError = 4,
  kPerformance = 5,
  kSystem = 6,
  kCustom = 7,
};

// Event types that this code needs (nixl_telemetry_event_type_t). src/mapping/events.ts has all of them.
enum EventType : uint32_t {
  kTxBytes = 0,
  kRxBytes = 1,
  kTxRequests = 2,
  kRxRequests = 3,
  kMemoryRegistered = 4,
  kMemoryDeregistered = 5,
  kXferTime = 6,
  kXferPostTime = 7,
  kFirstError = 8,
  kEventsDropped = 20,
};

// One event. Fields that its wire version lacks are 0. The key is the name if RingLayout::named(), otherwise the type.
struct RingEvent {
  uint64_t timestampUs = 0;  // microseconds since the Unix epoch (wire version 1)
  int32_t category = 0;      // as stored (versions 1 and 2)
  uint32_t type = 0;         // versions 2 and up
  uint64_t value = 0;
  char name[kNameBytes] = {};  // version 1

  std::string_view nameView() const { return {name, strnlen(name, kNameBytes)}; }
  void setName(std::string_view text) {
    std::memset(name, 0, kNameBytes);
    // The last byte remains NUL, as in NIXL.
    std::memcpy(name, text.data(), text.size() < kNameBytes ? text.size() : kNameBytes - 1);
  }
};

template <typename T>
inline T loadField(const std::byte* slot, uint32_t offset) {
  T value;
  std::memcpy(&value, slot + offset, sizeof value);
  return value;
}

template <typename T>
inline void storeField(std::byte* slot, uint32_t offset, T value) {
  std::memcpy(slot + offset, &value, sizeof value);
}

inline RingEvent decodeSlot(const SlotLayout& layout, const std::byte* slot) {
  RingEvent event;
  if (layout.timestampUs != kAbsent) event.timestampUs = loadField<uint64_t>(slot, layout.timestampUs);
  if (layout.category != kAbsent) event.category = loadField<int32_t>(slot, layout.category);
  if (layout.name != kAbsent) std::memcpy(event.name, slot + layout.name, kNameBytes);
  if (layout.type != kAbsent) event.type = loadField<uint32_t>(slot, layout.type);
  event.value = loadField<uint64_t>(slot, layout.value);
  return event;
}

// Encodes an event into a slot. Padding becomes zero.
inline void encodeSlot(const SlotLayout& layout, std::byte* slot, const RingEvent& event) {
  std::memset(slot, 0, layout.size);
  if (layout.timestampUs != kAbsent) storeField(slot, layout.timestampUs, event.timestampUs);
  if (layout.category != kAbsent) storeField(slot, layout.category, event.category);
  if (layout.name != kAbsent) std::memcpy(slot + layout.name, event.name, kNameBytes);
  if (layout.type != kAbsent) storeField(slot, layout.type, event.type);
  storeField(slot, layout.value, event.value);
}

}  // namespace nixl_otel
