// Options of a tally, and the plan that is computed from them once.

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
  bool operator==(const TallyOptions&) const = default;
};

// Digest of everything in the options on which sums depend.
uint64_t digestOf(const TallyOptions& options);

// The options and their buckets. A plan takes about 290 kB with one list in options.bounds, and 90 kB for each further
// one; planFor() shares it.
struct TallyPlan {
  explicit TallyPlan(TallyOptions from)
      : options(completed(std::move(from))),
        buckets(options.bounds.begin(), options.bounds.end()),
        sizeBuckets(options.sizeBounds),
        throughputBuckets(options.throughputBounds),
        digest(digestOf(options)) {}
  // Returns complete options: types without bounds get kNoBounds, and `bounds` has at least one entry, which transfers
  // need.
  static TallyOptions completed(TallyOptions options) {
    options.typeBounds.resize(options.typeCategories.size(), TallyOptions::kNoBounds);
    if (options.bounds.empty()) options.bounds.emplace_back();
    return options;
  }
  const TallyOptions options;
  const IntegerBuckets* at(uint32_t index) const { return index < buckets.size() ? &buckets[index] : nullptr; }
  // Index of the bounds of transfer times: those of xfer_time.
  uint32_t transferBounds() const {
    const uint32_t index = kXferTime < options.typeBounds.size() ? options.typeBounds[kXferTime] : 0;
    return index < buckets.size() ? index : 0;
  }
  const std::vector<IntegerBuckets> buckets;  // by the index of options.bounds
  const IntegerBuckets sizeBuckets;
  const RealBuckets throughputBuckets;
  const uint64_t digest;  // tells plans of different processes apart
};

// Returns the plan that all users of equal options share.
//
// Thread safety: any thread.
std::shared_ptr<const TallyPlan> planFor(TallyOptions options);

}  // namespace nixl_otel
