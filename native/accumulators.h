// Accumulators of a tally: one per event key, and one per direction of transfers.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "histogram.h"
#include "tally_plan.h"

namespace nixl_otel {

struct EventTally {
  static constexpr uint32_t kNoType = UINT32_MAX;
  uint32_t type = kNoType;
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
