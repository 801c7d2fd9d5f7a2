// Bytes of a state file. It begins with a head and the word W, and has two halves: W tells which of them is valid. A
// half is a list of sections.
//
//   0      StateHead
//   128    W
//   256    halves, at the places that the head names
//
// A section has a type, a fixed part and a tail: a later version of the package may append fields to a fixed part and
// add types, which this version skips. A change that needs more than this is another layout. The byte order is that of
// the machine.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "tally/accumulators.h"

namespace nixl_otel {

inline constexpr uint64_t kMostStateBytes = uint64_t{1} << 21;  // of a state file
// Each half has a place that is at most as large as the one that follows it, so a file has room for three halves, see
// StateFile::placeBeside().
inline constexpr uint64_t kMostHalfBytes = (kMostStateBytes - 4096) / 3;

struct StatePlace {
  uint32_t offset;
  uint32_t bytes;
};

struct StateHead {
  static constexpr uint64_t kMagic = 0x4C544F4C58494E00;  // "\0NIXLOTL"
  static constexpr uint32_t kLayout = 1;
  static constexpr uint32_t kWordOffset = 128;  // a cache line of its own
  static constexpr uint32_t kBytes = 256;
  uint64_t magic;
  uint32_t layout;
  uint32_t unused;
  uint8_t boot[16];  // boot_id of the kernel
  StatePlace halves[2];
};
static_assert(sizeof(StateHead) <= StateHead::kWordOffset);

// W: the sequence number of the commit, its half, and a bit per ring: its last swap is known to have hit the marked
// ring.
struct StateWord {
  static constexpr uint32_t kMostRings = 24;  // more than an agent ever has, see kMostRings of agent.cc
  static constexpr uint64_t kHalf = uint64_t{1} << kMostRings;
  uint64_t value = 0;  // 0: nothing was committed yet

  uint64_t sequence() const { return value >> (kMostRings + 1); }
  uint32_t half() const { return (value & kHalf) != 0 ? 1 : 0; }
  bool rested(size_t ring) const { return (value >> ring & 1) != 0; }
  static StateWord of(uint64_t sequence, uint32_t half, uint64_t rested) {
    return {sequence << (kMostRings + 1) | (half != 0 ? kHalf : 0) | rested};
  }
};

// First bytes of a half. The sequence is that of W while the half is valid.
struct HalfHead {
  uint64_t sequence;
  uint32_t bytes;  // with this head
  uint32_t unused;
};

// Numbers in files: they never change.
enum class SectionType : uint16_t {
  kAgent = 1,
  kRing = 2,
  kAttributes = 3,
  kTally = 4,
  kEvent = 5,
  kTransfers = 6,
  kHistogram = 7,
  kCarry = 8,
  kRefused = 9,
  kPost = 10,
  kSizeClass = 11,
};

struct SectionHead {
  uint16_t type;
  uint16_t fixedBytes;
  uint32_t tailBytes;
};

constexpr size_t padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

// Bytes of a section with this fixed part.
template <typename Fixed>
constexpr size_t sectionBytes(size_t tailBytes = 0) {
  return sizeof(SectionHead) + sizeof(Fixed) + padded(tailBytes);
}

struct NoFields {};
template <>
constexpr size_t sectionBytes<NoFields>(size_t tailBytes) {
  return sizeof(SectionHead) + padded(tailBytes);
}

// The fixed part at this place, for stores.
template <typename Fixed>
Fixed& fixedAt(std::byte* place) {
  static_assert(std::is_trivially_copyable_v<Fixed> && alignof(Fixed) <= 8);
  return *reinterpret_cast<Fixed*>(place);
}

// Writes sections one after another, from an offset in a half on.
class SectionWriter {
 public:
  SectionWriter(std::byte* half, uint32_t offset) : half_(half), offset_(offset) {}

  // Appends a section with this tail. Returns its fixed part, whose fields the caller stores.
  template <typename Fixed>
  Fixed& add(SectionType type, std::span<const std::byte> tail = {}) {
    constexpr uint16_t fixedBytes = std::is_empty_v<Fixed> ? 0 : sizeof(Fixed);
    static_assert(fixedBytes % 8 == 0);
    std::byte* const place = half_ + offset();
    fixedAt<SectionHead>(place - sizeof(SectionHead)) = {static_cast<uint16_t>(type), fixedBytes,
                                                         static_cast<uint32_t>(tail.size())};
    if (!tail.empty()) {
      std::memcpy(place + fixedBytes, tail.data(), tail.size());
      // The place may have had another section: equal tallies then still have equal bytes.
      std::memset(place + fixedBytes + tail.size(), 0, padded(tail.size()) - tail.size());
    }
    offset_ = static_cast<uint32_t>(offset() + fixedBytes + padded(tail.size()));
    return fixedAt<Fixed>(place);
  }
  // Offset of the fixed part of the next section.
  uint32_t offset() const { return offset_ + static_cast<uint32_t>(sizeof(SectionHead)); }
  // Bytes of the half up to here.
  uint32_t bytes() const { return offset_; }

 private:
  std::byte* const half_;
  uint32_t offset_;
};

struct Section {
  SectionType type;
  std::span<const std::byte> fixedPart;
  std::span<const std::byte> tail;

  // False if the fixed part is shorter than that of this version.
  template <typename Fixed>
  bool read(Fixed& fixed) const {
    if (fixedPart.size() < sizeof fixed) return false;
    std::memcpy(&fixed, fixedPart.data(), sizeof fixed);
    return true;
  }
  // Reads a fixed part that an earlier version may have written. Fields that it lacks stay as they are. False if it is
  // shorter than `least` bytes.
  template <typename Fixed>
  bool readFirst(size_t least, Fixed& fixed) const {
    if (fixedPart.size() < least) return false;
    std::memcpy(&fixed, fixedPart.data(), std::min(fixedPart.size(), sizeof fixed));
    return true;
  }
};

// Appends the sections in these bytes to `sections`. False if a section leaves them.
bool readSections(std::span<const std::byte> bytes, std::vector<Section>& sections);

// Fixed parts. A sum of 128 bits has its lower half first.

struct AgentFields {
  double lastEventMs;
  double fullMs;
  uint64_t writerStartTime;
  uint64_t pidNamespace;
  uint64_t drained;
  uint64_t foundFull;
  int32_t writer;
  uint32_t replacements;
  uint32_t restarts;
  uint32_t foreignMoves;
  uint32_t resyncs;
  uint32_t suspect;
};

struct RingFields {
  uint64_t device;
  uint64_t inode;
  int64_t bornSeconds;
  int64_t bornNanoseconds;
  uint64_t capacity;
  uint64_t before;
  uint64_t after;
  uint64_t drained;
  uint64_t foundFull;
  uint32_t slotBytes;
  int32_t mark;
  int32_t version;
  uint32_t fromZero;
  uint32_t restarts;
  uint32_t foreignMoves;
  uint32_t resyncs;
  uint32_t suspect;
  uint32_t gaps;
  uint32_t gapBefore;
  uint32_t gapAt[16];
};

struct TallyFields {
  uint64_t unusedDigest;  // 0: no plan of a checkout before 0.1.0, which would mistake the buckets for its own
  double startTimeMs;
  uint64_t memoryInUse[2];
  uint32_t memoryApproximate;
  uint32_t stage;  // of the transfer under assembly
  uint32_t direction;
  uint32_t unused;
  uint64_t durationUs;
  uint64_t bytes;
};

// The post of the transfer under assembly, see Transfers::Assembly. A file of an earlier version has none.
struct PostFields {
  uint64_t postUs;
  uint32_t openPosts;
  uint32_t hasPost;
};

// See RefusedEvents. A file of an earlier version has none.
struct RefusedFields {
  uint64_t count;
  uint32_t cut;
  uint32_t flags;
};

// One event key that was counted. The tail is the name of an unknown key.
struct EventFields {
  enum Kind : uint32_t { kKnown = 0, kUnknownType = 1, kUnknownName = 2, kOverflow = 3 };
  uint32_t kind;
  uint32_t type;
  int32_t category;
  uint32_t unused;
  uint64_t count;
  uint64_t sum[2];
  uint64_t last;
};

struct TransferFields {
  uint64_t direction;
  uint64_t count;
  uint64_t sizeSum[2];
  uint64_t durationSum[2];  // of its classes
  double throughputSum;
  uint64_t endedInPost;  // from here on absent in a file of an earlier version
  uint64_t flushSquares[2];
  uint64_t countAtFlush;
};

// A size class of a direction. The histograms of its times follow it. A file of an earlier version has none.
struct SizeClassFields {
  uint32_t direction;
  uint32_t index;
  uint64_t count;
  uint64_t sizeSum[2];
  uint64_t durationSum[2];
  uint64_t postSum[2];
};

// The tail is one u32 per bucket. That of an event or a class follows its section.
struct HistogramFields {
  uint32_t of;
  uint32_t index;  // of the event, the direction, or the class
  uint32_t first;  // bucket
  uint32_t unused;
  uint64_t division;     // see Buckets::division()
  double startTimeMs;    // 0: it began with the tally, otherwise see HistogramStart
  uint64_t countBefore;  // values before its start
  uint64_t sumBefore[2];
};

// What one count of a histogram, which precedes it, has beside its 32 bits.
struct CarryFields {
  uint32_t of;
  uint32_t index;
  uint64_t bucket;
  uint64_t times;
};

}  // namespace nixl_otel
