#include "addon/words.h"

#include <algorithm>
#include <climits>

#include "posix.h"

namespace nixl_otel::addon {

namespace {

// Counts by bound; then the exponential view: values of 0, index of the first bucket, number of buckets, and their
// counts as doubles, which JavaScript reads in place. Without it these three words are 0.
template <typename Each>
void putHistogram(Words& words, const Buckets& buckets, Views views, Each&& each) {
  uint64_t* const byBound = words.putZeros(buckets.boundBuckets());
  if (views == Views::kByBound) {
    // Buckets come in their order. A sum in a register takes a third of the time of additions in memory.
    size_t bound = 0;
    uint64_t sum = 0;
    each([&](size_t bucket, uint64_t count) {
      if (const size_t next = buckets.byBound(bucket); next != bound) {
        byBound[bound] += sum;
        bound = next;
        sum = 0;
      }
      sum += count;
    });
    byBound[bound] += sum;
    words.putZeros(3);
    return;
  }
  uint64_t zeros = 0;
  int first = INT_MAX, last = INT_MIN;
  each([&](size_t bucket, uint64_t count) {
    byBound[buckets.byBound(bucket)] += count;
    const int index = buckets.exponential(bucket);
    if (index == Exponential::kZero) {
      zeros += count;
      return;
    }
    first = std::min(first, index);
    last = std::max(last, index);
  });
  words.put(zeros);
  const size_t used = first > last ? 0 : static_cast<size_t>(last - first + 1);
  words.put(static_cast<uint64_t>(int64_t{used == 0 ? 0 : first}));
  words.put(uint64_t{used});
  uint64_t* const exponential = words.putZeros(used);
  each([&](size_t bucket, uint64_t count) {
    const int index = buckets.exponential(bucket);
    if (index == Exponential::kZero) return;
    uint64_t& word = exponential[index - first];
    // Several buckets may share an index: the sum stays exact up to 2^53.
    word = std::bit_cast<uint64_t>(std::bit_cast<double>(word) + static_cast<double>(count));
  });
}

auto countsOf(const BucketCounts& counts) {
  return [&](auto use) { counts.each(use); };
}

void putTransfers(Words& words, const TallyPlan& plan, const TransferTally& transfers, Views views) {
  words.put(transfers.count);
  words.put(transfers.sizeSum);
  putHistogram(words, plan.sizeBuckets, views, countsOf(transfers.sizes));
  words.put(transfers.durationSum);
  putHistogram(words, *plan.at(plan.transferBounds()), views, countsOf(transfers.durations));
  words.put(transfers.throughputSum);
  putHistogram(words, plan.throughputBuckets, views, countsOf(transfers.throughputs));
}

}  // namespace

void putTally(Words& words, std::vector<std::string>& strings, const Tally& tally, Views views) {
  words.put(tally.memoryInUse());
  words.put(uint64_t{tally.events().size()});
  for (const EventTally& event : tally.events()) {
    words.put(uint64_t{event.type});
    words.put(static_cast<uint64_t>(static_cast<int64_t>(event.category)));
    const bool named = !event.overflow && event.type == EventTally::kNoType;
    const bool histogram = event.buckets != nullptr;
    words.put(uint64_t{event.known} | uint64_t{event.overflow} << 1 | uint64_t{histogram} << 2 | uint64_t{named} << 3 |
              uint64_t{histogram ? event.bounds : 0} << 8);
    words.put(event.count);
    words.put(event.sum);
    words.put(event.last);
    if (histogram) putHistogram(words, *event.buckets, views, [&](auto use) { tally.eachCount(event, use); });
    if (named) strings.push_back(toUtf8(event.name));
  }
  putTransfers(words, tally.plan(), tally.transmit(), views);
  putTransfers(words, tally.plan(), tally.receive(), views);
}

}  // namespace nixl_otel::addon
