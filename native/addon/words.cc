#include "addon/words.h"

#include <algorithm>
#include <array>
#include <climits>
#include <span>

#include "posix.h"

namespace nixl_otel::addon {

namespace {

// Sums of consecutive counts with the same place. A sum in a register takes a third of the time of additions in memory.
class Runs {
 public:
  explicit Runs(uint64_t* sums) : sums_(sums) {}
  ~Runs() { sums_[place_] += sum_; }
  void add(size_t place, uint64_t count) {
    if (place != place_) {
      sums_[place_] += sum_;
      place_ = place;
      sum_ = 0;
    }
    sum_ += count;
  }

 private:
  uint64_t* const sums_;
  size_t place_ = 0;
  uint64_t sum_ = 0;
};

// Counts of the exponential view, at 0 between two histograms. Several buckets may share an index: a sum stays exact up
// to 2^53.
thread_local std::array<double, Exponential::kBuckets> exponentialCounts{};

// Counts by bound; then the exponential view: values of 0, index of the first bucket, number of buckets, and their
// counts as doubles, which JavaScript reads in place. Without it these three words are 0.
template <typename Each>
void putHistogram(Words& words, const Buckets& buckets, Views views, Each&& each) {
  uint64_t* const byBound = words.putZeros(buckets.boundBuckets());
  uint64_t zeros = 0;
  int first = INT_MAX, last = INT_MIN;
  {
    Runs runs(byBound);
    if (views == Views::kByBound) {
      each([&](size_t bucket, uint64_t count) { runs.add(buckets.byBound(bucket), count); });
    } else {
      each([&](size_t bucket, uint64_t count) {
        runs.add(buckets.byBound(bucket), count);
        const int index = buckets.exponential(bucket);
        if (index == Exponential::kZero) {
          zeros += count;
          return;
        }
        first = std::min(first, index);
        last = std::max(last, index);
        exponentialCounts[static_cast<size_t>(index + 1)] += static_cast<double>(count);
      });
    }
  }
  const size_t used = first > last ? 0 : static_cast<size_t>(last - first + 1);
  words.put(zeros);
  words.put(static_cast<uint64_t>(int64_t{used == 0 ? 0 : first}));
  words.put(uint64_t{used});
  if (used == 0) return;
  const auto begin = exponentialCounts.begin() + (first + 1);
  const auto end = begin + static_cast<ptrdiff_t>(used);
  words.put(std::span<const double>(begin, end));
  std::fill(begin, end, 0);
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
