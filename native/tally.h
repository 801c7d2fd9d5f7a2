// Folds drained events into accumulators: what one agent's events added up to. Not thread-safe.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "histogram.h"
#include "ring_event.h"
#include "ring_reader.h"

namespace nixl_otel {

// A histogram for keys that the event table does not know. What is not set matches anything.
struct HistogramRule {
  std::optional<uint32_t> type;
  std::optional<std::string> name;  // as fnmatch(3) has it
  std::optional<int32_t> category;
  uint32_t bounds = 0;  // index into TallyOptions::bounds
  bool operator==(const HistogramRule&) const = default;
};

struct TallyOptions {
  static constexpr uint32_t kNoBounds = UINT32_MAX;
  std::vector<int32_t> typeCategories;                      // category by type number: the known types
  std::vector<uint32_t> typeBounds;                         // beside them: index into `bounds`, or kNoBounds
  std::vector<std::pair<std::string, uint32_t>> typeNames;  // how wire version 1 spells them
  std::vector<std::vector<double>> bounds;                  // the first one: durations, microseconds
  std::vector<HistogramRule> rules;                         // the first that matches counts
  std::vector<double> sizeBounds;                           // bytes
  std::vector<double> throughputBounds;                     // bytes per second
  bool operator==(const TallyOptions&) const = default;
};

// The options with their buckets worked out: some 700 KB of tables, so use planFor().
struct TallyPlan {
  explicit TallyPlan(TallyOptions from)
      : options(completed(std::move(from))),
        buckets(options.bounds.begin(), options.bounds.end()),
        sizeBuckets(options.sizeBounds),
        throughputBuckets(options.throughputBounds) {}
  // Types that nothing is said of have no histogram, and transfers are measured by one bucket at the least.
  static TallyOptions completed(TallyOptions options) {
    options.typeBounds.resize(options.typeCategories.size(), TallyOptions::kNoBounds);
    if (options.bounds.empty()) options.bounds.emplace_back();
    return options;
  }
  const TallyOptions options;
  // Of a known type; nullptr: it has no histogram.
  const IntegerBuckets* bucketsOf(uint32_t type) const { return at(options.typeBounds[type]); }
  const IntegerBuckets* at(uint32_t index) const { return index < buckets.size() ? &buckets[index] : nullptr; }
  // Transfers are measured by their time, so they share its buckets.
  uint32_t transferBounds() const {
    const uint32_t index = kXferTime < options.typeBounds.size() ? options.typeBounds[kXferTime] : 0;
    return index < buckets.size() ? index : 0;
  }
  const std::vector<IntegerBuckets> buckets;  // beside options.bounds
  const IntegerBuckets sizeBuckets;
  const RealBuckets throughputBuckets;
};

// Who asks for equal options shares one plan as long as anybody has it. From any thread.
std::shared_ptr<const TallyPlan> planFor(TallyOptions options);

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
  uint32_t bounds = TallyOptions::kNoBounds;  // index into TallyOptions::bounds
  const IntegerBuckets* buckets = nullptr;    // of the plan; nullptr where there is no histogram
  BucketCounts counts;                        // beside them

  void add(uint64_t events, uint64_t values, uint64_t lastValue) {
    count += events;
    sum += values;
    last = lastValue;
  }
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
  uint32_t key;  // where it stands among the tally's events: a known type's number, or above
  uint64_t value;
  uint64_t timeUs;   // the event's own (wire version 1), else when it was drained; since the Unix epoch
  uint64_t ordinal;  // its number among the events of this key in this tally, from 1 on
};

// Which events somebody wants to have one by one.
struct TapWants {
  uint64_t types = 0;  // bit t: known type t (t < 64)
  bool all = false;    // also those that the table does not know
};

class Tally {
 public:
  static constexpr size_t kMaxUnknownKeys = 256;  // names and unknown numbers; the rest share one overflow key

  explicit Tally(std::shared_ptr<const TallyPlan> plan);

  // What `wants` asks for is appended to `tapped`.
  void fold(const RingReader::Chunk& chunk, const TapWants& wants, std::vector<TappedEvent>& tapped);

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
  // A name as it lies in a slot, and its category with a bit that no empty entry has.
  struct NameKey {
    static constexpr uint64_t kUsed = uint64_t{1} << 32;
    NameKey() = default;
    NameKey(const std::byte* slot, const SlotLayout& layout);
    bool operator==(const NameKey& other) const;
    size_t cacheSlot() const;
    uint64_t words[kNameBytes / 8] = {};
    uint64_t category = 0;
  };
  // Looked up once per spelling. Direct-mapped: a clash costs a slow look-up.
  struct NameCacheEntry {
    NameKey key;
    uint32_t index = 0;
  };
  static constexpr uint32_t kNameCacheBits = 9;

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
  void foldEach(const SlotLayout& layout, const std::byte* slots, uint32_t count, const TapWants& wants, Tapped& tapped,
                IndexOf&& indexOf);
  void breakOff();
  void assemble(Assembly& assembly, uint32_t type, uint64_t value, size_t bucket);
  void finishTransfer(uint32_t direction, uint64_t bytes, uint64_t durationUs, size_t durationBucket);

  template <typename IndexOf>
  void foldKeyed(const SlotLayout& layout, const RingReader::Chunk& chunk, const TapWants& wants, Tapped& tapped,
                 IndexOf&& indexOf);
  template <typename IndexOf>
  void foldTyped(const std::byte* slots, uint32_t count, const TapWants& wants, Tapped& tapped, IndexOf&& indexOf);
  // Nearly all that an agent writes are whole transfers, so these have a path of their own.
  template <bool kPosted>
  uint32_t foldTransfers(const std::byte* slots, uint32_t count);
  uint32_t indexOfName(const std::byte* slot, const SlotLayout& layout);
  uint32_t lookUpName(const std::byte* slot, const SlotLayout& layout);
  uint32_t indexOfType(int32_t category, uint32_t type);
  uint32_t indexOfUnknown(std::string key, int32_t category, uint32_t type, std::string name);
  void setHistogram(EventTally& event, uint32_t bounds) const;
  uint32_t boundsOfUnknown(const EventTally& event) const;

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
