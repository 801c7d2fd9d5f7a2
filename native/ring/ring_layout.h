// The byte offsets of all rings that NIXL agents write.
//
//   header A (wire versions 1-4), 40 bytes       header B (draft 5), 512 bytes
//   +-----------------------+ 0                  +-----------------------+ 0
//   | u64 write_pos         |                    | u64 write_pos         |
//   +-----------------------+ 8                  +-----------------------+ 8
//   | u64 read_pos          |                    | u64 capacity          |
//   +-----------+-----------+ 16                 +-----------+-----------+ 16
//   | i32 versn | i32 expct |                    | i32 versn | i32 expct |
//   +-----------+-----------+ 24                 +-----------+-----------+ 24
//   | u64 capacity          |                    | u64 mask              |
//   +-----------------------+ 32                 +-----------------------+ 32
//   | u64 mask              |                    | (padding)             |
//   +-----------------------+ 40: slots          +-----------------------+ 256
//                                                | u64 read_pos          |
//                                                +-----------------------+ 264
//                                                | (padding)             |
//                                                +-----------------------+ 512: slots
//
// The slots follow the header. Their number, the capacity, is a power of two. Positions are slot indices, already
// masked. A ring is empty if its positions are equal, and holds at most capacity - 1 events. The size of the file is
// exactly header + capacity * slot. The byte order is that of the machine: only processes of one machine share a ring.
//
// Source: sizeof and offsetof in NIXL releases 0.5.1 to 1.5.1 and in upstream pull request 2018 (draft 5). To support a
// new wire version, add one row to the end of kLayouts.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nixl_otel {

struct HeaderLayout {
  uint32_t size;
  uint32_t writePos;
  uint32_t readPos;
  uint32_t version;
  uint32_t expectedVersion;
  uint32_t capacity;
  uint32_t mask;
};

// What a header has, apart from the mask.
struct HeaderValues {
  int32_t version = 0;
  int32_t expectedVersion = 0;
  uint64_t writePos = 0;
  uint64_t readPos = 0;
  uint64_t capacity = 0;
  bool operator==(const HeaderValues&) const = default;
};

inline constexpr HeaderLayout kHeaderA{40, 0, 8, 16, 20, 24, 32};
inline constexpr HeaderLayout kHeaderB{512, 0, 256, 16, 20, 8, 24};

inline constexpr uint32_t kAbsent = UINT32_MAX;  // offset of a field that the slot lacks
inline constexpr size_t kNameBytes = 32;  // of an event's name: padded with NUL, but not terminated if it is full

struct SlotLayout {
  uint32_t size;
  uint32_t timestampUs;  // u64
  uint32_t category;     // i32
  uint32_t name;         // char[32]
  uint32_t type;         // u32
  uint32_t value;        // u64
  constexpr bool operator==(const SlotLayout&) const = default;
};

struct RingLayout {
  int32_t version;
  const char* releases;
  HeaderLayout header;
  SlotLayout slot;

  constexpr bool named() const { return slot.name != kAbsent; }
  constexpr bool timestamped() const { return slot.timestampUs != kAbsent; }
  constexpr bool categorised() const { return slot.category != kAbsent; }
  constexpr uint64_t fileSize(uint64_t capacity) const { return header.size + capacity * slot.size; }
  constexpr uint64_t slotOffset(uint64_t position) const { return header.size + position * slot.size; }
};

// clang-format off
inline constexpr std::array kLayouts{
    //         version  releases                  header    slot: size  time     category  name     type     value
    RingLayout{1, "0.5.1 - 1.0.1",                kHeaderA, {56,        0,       8,        12,      kAbsent, 48}},
    RingLayout{2, "1.1.0 - 1.2.0",                kHeaderA, {16,        kAbsent, 0,        kAbsent, 4,       8}},
    RingLayout{2, "unreleased, 48-byte slots",    kHeaderA, {48,        kAbsent, 0,        4,       kAbsent, 40}},
    RingLayout{3, "1.3.0, 1.3.2",                 kHeaderA, {16,        kAbsent, kAbsent,  kAbsent, 0,       8}},
    RingLayout{4, "1.3.1, 1.4.0, 1.5.1",          kHeaderA, {16,        kAbsent, kAbsent,  kAbsent, 0,       8}},
    RingLayout{5, "draft, upstream PR 2018",      kHeaderB, {16,        kAbsent, kAbsent,  kAbsent, 0,       8}},
};
// clang-format on

inline constexpr int32_t kDraftVersion = 5;         // may be released with another header than that of kLayouts
inline constexpr uint32_t kVersionOffset = 16;      // equal in every header, so that the version can be read first
inline constexpr uint64_t kMinCapacity = 2;         // one slot is always empty
inline constexpr uint64_t kMaxCapacity = 1u << 24;  // 0.9 GiB of 56-byte slots; a header with more is corrupt

// Folder beside the rings, in which consumers keep what outlives them (state_file.h). No ring may have this name.
inline constexpr char kStateFolderName[] = ".nixl-otel";

// True if the last name of the path, or the folder before it, is that of the state folder.
inline bool inStateFolder(std::string_view path) {
  for (int names = 0; names < 2; ++names) {
    const size_t slash = path.rfind('/');
    if (path.substr(slash == std::string_view::npos ? 0 : slash + 1) == kStateFolderName) return true;
    if (slash == std::string_view::npos) break;
    path = path.substr(0, slash);
  }
  return false;
}

constexpr bool validCapacity(uint64_t capacity) {
  return std::has_single_bit(capacity) && capacity >= kMinCapacity && capacity <= kMaxCapacity;
}

// kLayouts is sorted by version.
inline constexpr int32_t kFirstVersion = kLayouts.front().version;
inline constexpr int32_t kLastVersion = kLayouts.back().version;

inline std::string knownVersions() { return std::to_string(kFirstVersion) + " to " + std::to_string(kLastVersion); }

constexpr uint32_t largest(uint32_t (*sizeOf)(const RingLayout&)) {
  uint32_t most = 0;
  for (const RingLayout& layout : kLayouts) most = std::max(most, sizeOf(layout));
  return most;
}

inline constexpr uint32_t kMaxHeaderBytes = largest([](const RingLayout& layout) { return layout.header.size; });
inline constexpr uint32_t kMaxSlotBytes = largest([](const RingLayout& layout) { return layout.slot.size; });

// Returns the layout with this version, capacity and exact file size, or nullptr. The size distinguishes the two slots
// of version 2.
constexpr const RingLayout* findLayout(int32_t version, uint64_t capacity, uint64_t fileSize) {
  for (const RingLayout& layout : kLayouts) {
    if (layout.version == version && layout.fileSize(capacity) == fileSize) return &layout;
  }
  return nullptr;
}

// Returns the layout that released writers of this version use, or nullptr.
constexpr const RingLayout* releasedLayout(int32_t version) {
  for (const RingLayout& layout : kLayouts) {
    if (layout.version == version) return &layout;
  }
  return nullptr;
}

constexpr bool knownVersion(int32_t version) { return releasedLayout(version) != nullptr; }

namespace layout_checks {
constexpr bool fits(const RingLayout& layout) {
  const HeaderLayout& h = layout.header;
  const SlotLayout& s = layout.slot;
  const bool header = h.size % 8 == 0 && h.version == kVersionOffset && h.expectedVersion == kVersionOffset + 4 &&
                      h.writePos % 8 == 0 && h.readPos % 8 == 0 && h.capacity % 8 == 0 && h.mask % 8 == 0 &&
                      h.writePos + 8 <= h.size && h.readPos + 8 <= h.size && h.capacity + 8 <= h.size &&
                      h.mask + 8 <= h.size;
  const bool slot = s.size % 8 == 0 && s.value % 8 == 0 && s.value + 8 <= s.size;
  const bool oneKey = (s.name == kAbsent) != (s.type == kAbsent);
  return header && slot && oneKey;
}
}  // namespace layout_checks

static_assert(std::all_of(kLayouts.begin(), kLayouts.end(), layout_checks::fits),
              "a row of kLayouts overlaps its own header or slot");
static_assert(std::ranges::is_sorted(kLayouts, {}, &RingLayout::version),
              "the rows of kLayouts are not in the order of their versions");
static_assert(findLayout(2, 16, 40 + 16 * 16)->slot.size == 16, "released version 2");
static_assert(findLayout(2, 16, 40 + 16 * 48)->slot.size == 48, "unreleased version 2 by its file size");
static_assert(findLayout(1, 4096, 229416)->named(), "the size that NIXL 1.0.1 gives a ring of 4096 slots");
static_assert(findLayout(4, 4096, 65576)->version == 4, "the size that NIXL 1.4.0 gives a ring of 4096 slots");
static_assert(findLayout(5, 16, 768)->version == 5, "the size that draft 5 gives a ring of 16 slots");

}  // namespace nixl_otel
