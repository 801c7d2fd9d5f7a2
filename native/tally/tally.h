// Sums, last values, histograms and transfers of one agent's events.
//
// Thread safety: none. At most one thread at a time may use a tally.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ring/ring_event.h"
#include "ring/ring_reader.h"
#include "tally/accumulators.h"
#include "tally/tally_plan.h"
#include "tally/transfers.h"

namespace nixl_otel {

struct TappedEvent {
  uint64_t agentId;
  uint32_t key;  // index in Tally::events(): the number of a known type, or a larger number
  uint64_t value;
  uint64_t timeUs;   // since the Unix epoch: the event's own time (wire version 1), otherwise the time of the drain
  uint64_t ordinal;  // number of the event among those of its key in this tally, from 1 on
};

// Selection of events that a tap gets.
struct TapWants {
  uint64_t types = 0;  // bit t: events of the known type t (t < 64)
  bool all = false;    // all events, also unknown ones
  uint64_t first = 0;  // only the first events of each agent and key, so many; 0: all of them
};

class Tally {
 public:
  static constexpr size_t kMaxUnknownKeys = 256;  // unknown names and type numbers; others share one overflow key

  explicit Tally(std::shared_ptr<const TallyPlan> plan);

  // Adds the chunk's events. Appends the events that `wants` selects to `tapped`.
  void fold(const RingReader::Chunk& chunk, const TapWants& wants, std::vector<TappedEvent>& tapped);

  // Notes a new incarnation of the agent, which has no memory registered yet. Sums continue.
  void restart();
  // Notes that the ring is empty after a flush.
  void noteFlush() {
    for (const uint32_t direction : {0u, 1u}) transfers_.at(direction).noteFlush();
  }
  // Notes that events of this incarnation are missing.
  void markMemoryApproximate() { memoryApproximate_ = true; }

  const TallyPlan& plan() const { return *plan_; }
  const TallyOptions& options() const { return plan_->options; }
  uint64_t id() const { return id_; }
  double startTimeMs() const { return startTimeMs_; }
  const std::vector<EventTally>& events() const { return events_; }
  // Calls use(counts) for each part of an event's histogram. Both times of a finished transfer are counted once, in its
  // size class: a second count of each would cost a fifth of a nanosecond per event.
  template <typename Use>
  void eachPart(const EventTally& event, Use&& use) const {
    if (event.buckets == nullptr) return;
    use(event.counts);
    if (!event.known || (event.type != kXferTime && event.type != kXferPostTime)) return;
    const auto part = event.type == kXferTime ? &SizeClass::durations : &SizeClass::posts;
    for (const uint32_t direction : {0u, 1u}) {
      transfers_[direction].classes.each([&](size_t, const SizeClass& one) { use(one.*part); });
    }
  }
  // Calls use(bucket, count) for the counts of an event's histogram, in any order.
  template <typename Use>
  void eachCount(const EventTally& event, Use&& use) const {
    eachPart(event, [&](const BucketCounts& counts) { counts.each(use); });
  }
  // The begins of histograms that are younger than the tally: usually none.
  const std::vector<HistogramStart>& histogramStarts() const { return starts_; }
  // nullptr if the histogram began with the tally.
  const HistogramStart* startOf(HistogramOf::Of of, size_t index) const {
    for (const HistogramStart& start : starts_) {
      if (start.of == of && start.index == index) return &start;
    }
    return nullptr;
  }
  const TransferTally& transmit() const { return transfers_[0]; }
  const TransferTally& receive() const { return transfers_[1]; }
  WideSum memoryInUse() const { return memoryInUse_; }
  bool memoryApproximate() const { return memoryApproximate_; }
  const Transfers::Assembly& assembly() const { return transfers_.assembly; }
  const RefusedEvents& refused() const { return transfers_.refused; }

  // Asks for room for each unknown key before its first event. Without room the key counts under the overflow key, as
  // do all that follow. nullptr: there is always room.
  using KeyAdmission = std::function<bool(const EventTally&)>;
  void admitKeys(KeyAdmission admits) { admits_ = std::move(admits); }

 private:
  friend class TallyRestorer;
  // The bytes of a name in a slot, and its category with a bit that distinguishes the key from an empty entry.
  struct NameKey {
    static constexpr uint64_t kUsed = uint64_t{1} << 32;
    NameKey() = default;
    NameKey(const std::byte* slot, const SlotLayout& layout);
    bool operator==(const NameKey& other) const;
    size_t cacheSlot() const;
    uint64_t words[kNameBytes / 8] = {};
    uint64_t category = 0;
  };
  // Entry of a direct-mapped cache. Two keys with the same entry cost a slow search each time.
  struct NameCacheEntry {
    NameKey key;
    uint32_t index = 0;
  };
  static constexpr uint32_t kNameCacheBits = 9;

  using Tapped = std::vector<TappedEvent>;

  template <typename IndexOf>
  void foldEach(const SlotLayout& layout, const std::byte* slots, uint32_t count, const TapWants& wants, Tapped& tapped,
                IndexOf&& indexOf);
  void noteMemory(uint32_t type, uint64_t value);
  template <typename IndexOf>
  void foldKeyed(const SlotLayout& layout, const RingReader::Chunk& chunk, const TapWants& wants, Tapped& tapped,
                 IndexOf&& indexOf);
  template <typename IndexOf>
  void foldTyped(const std::byte* slots, uint32_t count, const TapWants& wants, Tapped& tapped, IndexOf&& indexOf);
  uint32_t indexOfName(const std::byte* slot, const SlotLayout& layout);
  uint32_t findName(const std::byte* slot, const SlotLayout& layout);
  uint32_t indexOfType(int32_t category, uint32_t type);
  uint32_t indexOfUnknownName(int32_t category, std::string name);
  uint32_t indexOfUnknown(std::string key, EventTally event);
  bool overflows() const { return !events_.empty() && events_.back().overflow; }
  uint32_t addOverflow();
  uint32_t add(EventTally event);
  void setHistogram(EventTally& event, uint32_t bounds) const;
  uint32_t boundsOfUnknown(const EventTally& event) const;

  std::shared_ptr<const TallyPlan> plan_;
  uint64_t id_;
  double startTimeMs_;
  uint32_t knownTypes_;
  std::vector<EventTally> events_;  // known types in the order of their numbers, then unknown keys as they appear
  std::unordered_map<std::string, uint32_t> unknownKeys_;
  KeyAdmission admits_;
  std::unordered_map<std::string, uint32_t> knownNames_;
  std::vector<NameCacheEntry> nameCache_;
  Transfers transfers_;
  std::vector<HistogramStart> starts_;
  bool canFoldTransfers_ = false;
  WideSum memoryInUse_ = 0;
  bool memoryApproximate_ = false;
};

}  // namespace nixl_otel
