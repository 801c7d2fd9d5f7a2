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
  std::unique_ptr<IntegerHistogram> histogram;  // category PERFORMANCE only
};

struct TransferTally {
  uint64_t count = 0;
  IntegerHistogram size;
  IntegerHistogram duration;
  RealHistogram throughput;
};

struct TappedEvent {
  uint64_t agentId;
  uint32_t type;
  uint64_t value;
};

class Tally {
 public:
  static constexpr size_t kMaxUnknownKeys = 256;  // names and unknown numbers; the rest share one overflow key

  explicit Tally(std::shared_ptr<const TallyOptions> options);

  // `tapMask`: bit t asks for the events of known type t (t < 64) to be appended to `tapped`.
  void fold(const RingReader::Chunk& chunk, uint64_t tapMask, std::vector<TappedEvent>& tapped);

  // A new incarnation of the agent has nothing registered; sums go on.
  void restart();
  // Events of this incarnation went by unseen.
  void markMemoryApproximate() { memoryApproximate_ = true; }

  const TallyOptions& options() const { return *options_; }
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

  void add(EventTally& event, uint64_t value);
  void observe(uint32_t type, uint64_t value, uint64_t tapMask, std::vector<TappedEvent>& tapped);
  void assemble(uint32_t type, uint64_t value);
  void finishTransfer(TransferTally& transfer);
  uint32_t indexOfName(const std::byte* slot, const SlotLayout& layout);
  uint32_t indexOfType(int32_t category, uint32_t type);
  uint32_t indexOfUnknown(std::string key, int32_t category, uint32_t type, std::string name);

  std::shared_ptr<const TallyOptions> options_;
  uint64_t id_;
  double startTimeMs_;
  uint32_t knownTypes_;
  std::vector<EventTally> events_;  // the known types in order, then what turned up
  std::unordered_map<std::string, uint32_t> unknownKeys_;
  std::unordered_map<std::string, uint32_t> knownNames_;
  std::unique_ptr<NameCacheEntry[]> nameCache_;
  TransferTally transfers_[2];
  // The transfer that is being put together: xfer_time, then bytes, then one request of the same direction.
  enum class Stage : uint8_t { kNothing, kTime, kBytes };
  Stage stage_ = Stage::kNothing;
  uint32_t direction_ = 0;
  uint64_t duration_ = 0;
  uint64_t bytes_ = 0;
  WideSum memoryInUse_ = 0;
  bool memoryApproximate_ = false;
};

double wallClockMs();

}  // namespace nixl_otel
