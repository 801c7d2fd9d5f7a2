// Accumulators of a tally: one per event key, and one per direction of transfers.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/histogram.h"
#include "tally/tally_plan.h"

namespace nixl_otel {

struct EventTally {
  uint32_t type = 0;  // any number may be that of an event; without meaning if `named` or `overflow`
  int32_t category = 0;
  bool known = false;
  bool overflow = false;
  bool named = false;  // the key is a name, which may be empty, and not a type number
  std::string name;
  uint64_t count = 0;
  WideSum sum = 0;
  uint64_t last = 0;
  uint32_t bounds = TallyOptions::kNoBounds;  // index into TallyOptions::bounds
  const IntegerBuckets* buckets = nullptr;    // owned by the plan; nullptr without a histogram
  BucketCounts counts;                        // of xfer_time: without finished transfers, see Tally::eachCount()

  void add(uint64_t events, uint64_t values, uint64_t lastValue) {
    count += events;
    sum += values;
    last = lastValue;
  }
};

// The kinds of histograms of a tally. Numbers in files: they never change.
struct HistogramOf {
  enum Of : uint32_t { kEvent = 0, kSizes = 1, kDurations = 2, kThroughputs = 3 };
};

// Begin of a histogram that is younger than its tally: an earlier process counted in other buckets.
struct HistogramStart {
  uint32_t of;
  uint32_t index;  // of the event, or the direction
  double timeMs;
  uint64_t count;  // values before: they are in none of its buckets
  WideSum sum;     // of these values, for an event; sums of transfers begin at 0 as well
  bool isNew;      // this process began it
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

}  // namespace nixl_otel
