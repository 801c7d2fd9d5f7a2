// Options of a tally, and the plan that is computed from them once.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ring/ring_event.h"
#include "tally/histogram.h"

namespace nixl_otel {

// Bounds for unknown events that match. An unset field matches every event.
struct HistogramRule {
  std::optional<uint32_t> type;
  std::optional<std::string> name;  // a pattern of fnmatch(3)
  std::optional<int32_t> category;
  uint32_t bounds = 0;  // index into TallyOptions::bounds
  bool operator==(const HistogramRule&) const = default;
};

struct TallyOptions {
  static constexpr uint32_t kNoBounds = UINT32_MAX;
  std::vector<int32_t> typeCategories;                      // by the number of a known type
  std::vector<uint32_t> typeBounds;                         // by the same number: index into `bounds`, or kNoBounds
  std::vector<std::pair<std::string, uint32_t>> typeNames;  // names of known types in wire version 1
  std::vector<std::vector<double>> bounds;                  // the first one: of durations, in microseconds
  std::vector<HistogramRule> rules;                         // the first rule that matches applies
  std::vector<double> sizeBounds;                           // bytes
  std::vector<double> throughputBounds;                     // bytes per second
  // Bounds that divide values as well and are not shown: a process that shows them goes on with the counts of this one.
  std::vector<double> keptBounds;  // of each list in `bounds`
  std::vector<double> keptSizeBounds;
  std::vector<double> keptThroughputBounds;
  bool operator==(const TallyOptions&) const = default;
};

// The options and their buckets. A plan takes about 290 kB with one list in options.bounds, and 90 kB for each further
// one; planFor() shares it.
struct TallyPlan {
  explicit TallyPlan(TallyOptions from)
      : options(completed(std::move(from))),
        buckets(bucketsOf(options)),
        sizeBuckets(options.sizeBounds, options.keptSizeBounds),
        throughputBuckets(options.throughputBounds, options.keptThroughputBounds) {}
  // Returns complete options: types without bounds get kNoBounds, and `bounds` has at least one entry, which transfers
  // need.
  static TallyOptions completed(TallyOptions options) {
    options.typeBounds.resize(options.typeCategories.size(), TallyOptions::kNoBounds);
    if (options.bounds.empty()) options.bounds.emplace_back();
    return options;
  }
  static std::vector<IntegerBuckets> bucketsOf(const TallyOptions& options) {
    std::vector<IntegerBuckets> buckets;
    for (const std::vector<double>& bounds : options.bounds) buckets.emplace_back(bounds, options.keptBounds);
    return buckets;
  }
  const TallyOptions options;
  const IntegerBuckets* at(uint32_t index) const { return index < buckets.size() ? &buckets[index] : nullptr; }
  // Index of the bounds of transfer times: those of xfer_time.
  uint32_t transferBounds() const {
    const uint32_t index = kXferTime < options.typeBounds.size() ? options.typeBounds[kXferTime] : 0;
    return index < buckets.size() ? index : 0;
  }
  // Buckets of the times of posts, or nullptr: then no size class counts posts.
  const IntegerBuckets* postBuckets() const {
    return kXferPostTime < options.typeBounds.size() ? at(options.typeBounds[kXferPostTime]) : nullptr;
  }
  const std::vector<IntegerBuckets> buckets;  // by the index of options.bounds
  const IntegerBuckets sizeBuckets;
  const RealBuckets throughputBuckets;
};

// Returns the plan that all users of equal options share.
//
// Thread safety: any thread.
std::shared_ptr<const TallyPlan> planFor(TallyOptions options);

}  // namespace nixl_otel
