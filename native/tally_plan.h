// Options of a tally, and the plan that is worked out from them once.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "histogram.h"
#include "ring_event.h"

namespace nixl_otel {

// A histogram for keys that the event table does not know. An unset field matches anything.
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

// The options and their bucket tables, which take some 700 KB: use planFor().
struct TallyPlan {
  explicit TallyPlan(TallyOptions from)
      : options(completed(std::move(from))),
        buckets(options.bounds.begin(), options.bounds.end()),
        sizeBuckets(options.sizeBounds),
        throughputBuckets(options.throughputBounds) {}
  // Types without bounds get kNoBounds. Transfers need one histogram of times at least.
  static TallyOptions completed(TallyOptions options) {
    options.typeBounds.resize(options.typeCategories.size(), TallyOptions::kNoBounds);
    if (options.bounds.empty()) options.bounds.emplace_back();
    return options;
  }
  const TallyOptions options;
  const IntegerBuckets* at(uint32_t index) const { return index < buckets.size() ? &buckets[index] : nullptr; }
  // Index of the bounds of transfer times, which are those of xfer_time.
  uint32_t transferBounds() const {
    const uint32_t index = kXferTime < options.typeBounds.size() ? options.typeBounds[kXferTime] : 0;
    return index < buckets.size() ? index : 0;
  }
  const std::vector<IntegerBuckets> buckets;  // beside options.bounds
  const IntegerBuckets sizeBuckets;
  const RealBuckets throughputBuckets;
};

// Returns the plan that all users of equal options share.
//
// Thread safety: any thread.
std::shared_ptr<const TallyPlan> planFor(TallyOptions options);

}  // namespace nixl_otel
