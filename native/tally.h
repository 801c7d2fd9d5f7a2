// Folds drained events into accumulators: what one agent's events added up to. Not thread-safe.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "histogram.h"
#include "ring_reader.h"

namespace nixl_otel {

struct TallyOptions {
  std::vector<int32_t> typeCategories;                      // category by type number: the known types
  std::vector<std::pair<std::string, uint32_t>> typeNames;  // how wire version 1 spells them
  std::vector<double> durationBoundsUs;
  std::vector<double> sizeBounds;        // bytes
  std::vector<double> throughputBounds;  // bytes per second
  bool operator==(const TallyOptions&) const = default;
};

// The options with their buckets worked out: once for all tallies of a source, which share them.
struct TallyPlan {
  explicit TallyPlan(TallyOptions from)
      : options(std::move(from)),
        durationBuckets(options.durationBoundsUs),
        sizeBuckets(options.sizeBounds),
        throughputBuckets(options.throughputBounds) {}
  const TallyOptions options;
  const IntegerBuckets durationBuckets;
  const IntegerBuckets sizeBuckets;
  const RealBuckets throughputBuckets;
};

// Per bucket, how many values fell into it.
using BucketCounts = std::vector<uint64_t>;

// What is added up per event key.
struct EventTally {
  static constexpr uint32_t kNoType = UINT32_MAX;
  uint32_t type = kNoType;
  int32_t category = 0;
  bool known = false;
  bool overflow = false;
  std::string name;  // where the key is a name
  uint64_t count = 0;
  WideSum sum = 0;
  uint64_t last = 0;
  BucketCounts durations;  // category PERFORMANCE only, else empty
};

struct TransferTally {
  uint64_t count = 0;
  WideSum sizeSum = 0;
  WideSum durationSum = 0;
  double throughputSum = 0;
  BucketCounts sizes;
  BucketCounts durations;
  BucketCounts throughputs;
};

struct TappedEvent {
  uint64_t agentId;
  uint32_t type;
  uint64_t value;
};

class Tally {
 public:
  static constexpr size_t kMaxUnknownKeys = 256;  // names and unknown numbers; the rest share one overflow key

  explicit Tally(std::shared_ptr<const TallyPlan> plan);

  // `tapMask`: bit t asks for the events of known type t (t < 64) to be appended to `tapped`.
  void fold(const RingReader::Chunk& chunk, uint64_t tapMask, std::vector<TappedEvent>& tapped);

  // A new incarnation of the agent has nothing registered; sums go on.
  void restart();
  // Events of this incarnation went by unseen.
  void markMemoryApproximate() { memoryApproximate_ = true; }

  const TallyOptions& options() const { return plan_->options; }
  uint64_t id() const { return id_; }
  double startTimeMs() const { return startTimeMs_; }
  const std::vector<EventTally>& events() const { return events_; }
  const TransferTally& transmit() const { return transfers_[0]; }
  const TransferTally& receive() const { return transfers_[1]; }
  WideSum memoryInUse() const { return memoryInUse_; }
  bool memoryApproximate() const { return memoryApproximate_; }

 private:
  // The key of a name as it lies in a slot, looked up once per spelling. Direct-mapped: a clash costs a slow look-up.
  struct NameCacheEntry {
    char name[kNameBytes];
    int32_t category;
    uint32_t index;
    bool used;
  };
  static constexpr size_t kNameCacheEntries = 512;

  // The transfer that is being put together: xfer_time, then bytes, then one request of the same direction.
  enum class Stage : uint8_t { kNothing, kTime, kBytes };
  struct Assembly {
    Stage stage = Stage::kNothing;
    uint32_t direction = 0;
    uint64_t durationUs = 0;
    size_t durationBucket = 0;
    uint64_t bytes = 0;
  };
  using Tapped = std::vector<TappedEvent>;

  template <typename IndexOf>
  void foldEach(const SlotLayout& layout, const std::byte* slots, uint32_t count, uint64_t tapMask, Tapped& tapped,
                IndexOf&& indexOf);
  void assemble(Assembly& assembly, uint32_t type, uint64_t value, size_t bucket);
  void finishTransfer(uint32_t direction, uint64_t bytes, uint64_t durationUs, size_t durationBucket);

  // Nearly all that an agent writes are whole transfers, so these have a path of their own.
  void foldTyped(const SlotLayout& layout, const std::byte* slots, uint32_t count, uint64_t tapMask, Tapped& tapped);
  template <bool kPosted>
  uint32_t foldTransfers(const std::byte* slots, uint32_t count);
  uint32_t indexOfName(const std::byte* slot, const SlotLayout& layout);
  uint32_t indexOfType(int32_t category, uint32_t type);
  uint32_t indexOfUnknown(std::string key, int32_t category, uint32_t type, std::string name);

  std::shared_ptr<const TallyPlan> plan_;
  uint64_t id_;
  double startTimeMs_;
  uint32_t knownTypes_;
  std::vector<EventTally> events_;  // the known types in order, then what turned up
  std::unordered_map<std::string, uint32_t> unknownKeys_;
  std::unordered_map<std::string, uint32_t> knownNames_;
  std::unique_ptr<NameCacheEntry[]> nameCache_;
  TransferTally transfers_[2];
  Assembly assembly_;
  bool wholeTransfers_ = false;  // their types are the ones that foldTransfers() takes them for
  WideSum memoryInUse_ = 0;
  bool memoryApproximate_ = false;
};

double wallClockMs();

}  // namespace nixl_otel
