// Events in columns. Type, category and name are stored once per kind, and each event has the index of its kind.
// Therefore JavaScript makes one object per kind and none per event.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ring/ring_event.h"
#include "ring/ring_layout.h"

namespace nixl_otel {

class EventColumns {
 public:
  // `event` is the first event of its kind.
  struct Kind {
    const RingLayout* layout;
    RingEvent event;
  };

  // Requires: the layout outlives the columns.
  void add(const RingLayout& layout, const std::byte* slots, size_t count) {
    kindOf_.reserve(kindOf_.size() + count);
    values_.reserve(values_.size() + count);
    timestampsUs_.reserve(timestampsUs_.size() + count);
    for (size_t i = 0; i < count; ++i) {
      const RingEvent event = decodeSlot(layout.slot, slots + i * layout.slot.size);
      kindOf_.push_back(kindIndex(layout, event));
      values_.push_back(event.value);
      timestampsUs_.push_back(event.timestampUs);
    }
  }

  size_t size() const { return values_.size(); }
  const std::vector<Kind>& kinds() const { return kinds_; }
  const std::vector<uint32_t>& kindOf() const { return kindOf_; }
  const std::vector<uint64_t>& values() const { return values_; }
  const std::vector<uint64_t>& timestampsUs() const { return timestampsUs_; }

 private:
  // Identity of a kind. Has no padding, because it is hashed and compared as bytes.
  struct Key {
    uint64_t words[6];
    bool operator==(const Key&) const = default;
    std::string_view bytes() const { return {reinterpret_cast<const char*>(words), sizeof words}; }
  };
  struct Seen {
    Key key;
    uint32_t indexPlus1 = 0;
  };

  static Key keyOf(const RingLayout& layout, const RingEvent& event) {
    Key key{{reinterpret_cast<uintptr_t>(&layout), uint64_t{event.type} << 32 | static_cast<uint32_t>(event.category)}};
    std::memcpy(&key.words[2], event.name, kNameBytes);
    return key;
  }

  uint32_t kindIndex(const RingLayout& layout, const RingEvent& event) {
    const Key key = keyOf(layout, event);
    uint64_t hash = 0;
    for (const uint64_t word : key.words) hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    Seen& seen = recent_[hash >> 56];
    if (seen.indexPlus1 == 0 || seen.key != key) {
      const auto [known, isNew] = indices_.try_emplace(std::string(key.bytes()), static_cast<uint32_t>(kinds_.size()));
      if (isNew) kinds_.push_back({&layout, event});
      seen = {key, known->second + 1};
    }
    return seen.indexPlus1 - 1;
  }

  std::vector<uint32_t> kindOf_;
  std::vector<uint64_t> values_;
  std::vector<uint64_t> timestampsUs_;
  std::vector<Kind> kinds_;
  std::unordered_map<std::string, uint32_t> indices_;
  std::array<Seen, 256> recent_{};
};

}  // namespace nixl_otel
