// Accumulators of a tally: one per event key, and one per direction of transfers.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/histogram.h"
#include "tally/size_class.h"
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
  BucketCounts counts;                        // without what size classes count, see Tally::eachPart()

  void add(uint64_t events, uint64_t values, uint64_t lastValue) {
    count += events;
    sum += values;
    last = lastValue;
  }
};

// The kinds of histograms of a tally. Numbers in files: they never change.
struct HistogramOf {
  enum Of : uint32_t {
    kEvent = 0,
    kSizes = 1,
    kDurations = 2,  // all classes of a direction together: they begin at once
    kThroughputs = 3,
    kClassDurations = 4,
    kClassPosts = 5,
  };
};

// Begin of a histogram that is younger than its tally: an earlier process counted in other buckets.
struct HistogramStart {
  uint32_t of;
  uint32_t index;  // of the event, or the direction; classes have none of their own
  double timeMs;
  uint64_t count;  // values before: they are in none of its buckets
  WideSum sum;     // of these values, for an event; sums of transfers begin at 0 as well
  bool isNew;      // this process began it
};

// Finished transfers of one direction.
struct TransferTally {
  uint64_t count = 0;
  WideSum sizeSum = 0;
  double throughputSum = 0;
  BucketCounts sizes;
  BucketCounts throughputs;
  SizeClasses classes;
  // Transfers whose time is their post's to within 2 %: they ended inside of the post.
  uint64_t endedInPost = 0;
  // Sum over flushes of the squared number of transfers: divided by `count`, how many the flush of a transfer has. A
  // flush is what one drain finds, so this sum alone may miss or divide one when the collector is killed.
  WideSum flushSquares = 0;
  uint64_t countAtFlush = 0;  // `count` at the end of the last flush

  WideSum durationSum() const {
    WideSum sum = 0;
    classes.each([&](size_t, const SizeClass& one) { sum += one.durationSum; });
    return sum;
  }
  void noteFlush() {
    const uint64_t transfers = count - countAtFlush;
    flushSquares += WideSum{transfers} * transfers;
    countAtFlush = count;
  }
};

}  // namespace nixl_otel
