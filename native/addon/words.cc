#include "addon/words.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <span>

#include "posix/posix.h"

namespace nixl_otel::addon {

namespace {

// Counts of the exponential view, at 0 between two histograms. Several buckets may share an index: a sum stays exact up
// to 2^53.
thread_local std::array<double, Exponential::kBuckets> exponentialCounts{};

double startMs(const HistogramStart* start) { return start == nullptr ? 0 : start->timeMs; }

// Exponential counts of a tally's histograms. They lie behind its other words, so that those have fixed places.
struct ExponentialCounts {
  struct Histogram {
    size_t start;  // index of its word `start`
    size_t begin;  // index of its first count
  };
  std::vector<Histogram> histograms;
  std::vector<double> counts;
};

// Adds up the exponential views of `parts`, and calls use(distribution, its counts).
template <typename Use>
void useDistribution(const Buckets& buckets, std::span<const BucketCounts* const> parts, Use&& use) {
  DistributionWords words;
  int first = INT_MAX, last = INT_MIN;
  for (const BucketCounts* const part : parts) {
    part->each([&](size_t bucket, uint64_t count) {
      const int index = buckets.exponential(bucket);
      if (index == Exponential::kZero) {
        words.zeros += count;
        return;
      }
      first = std::min(first, index);
      last = std::max(last, index);
      exponentialCounts[static_cast<size_t>(index + 1)] += static_cast<double>(count);
    });
  }
  if (first > last) return use(words, std::span<const double>());
  words.first = first;
  words.buckets = static_cast<uint64_t>(last - first + 1);
  const std::span<double> counts(exponentialCounts.data() + (first + 1), words.buckets);
  use(words, std::span<const double>(counts));
  std::fill(counts.begin(), counts.end(), 0);
}

class TallyWriter {
 public:
  TallyWriter(Words& words, const Tally& tally, Parts wanted) : words_(words), tally_(tally), wanted_(wanted) {}

  void write() {
    const size_t begin = words_.all().size();
    const WideSum inUse = tally_.memoryInUse();
    words_.putFields(TallyWords{low(inUse), high(inUse), uint64_t{tally_.events().size()}, 0});
    for (size_t i = 0; i < tally_.events().size(); ++i) writeEvent(tally_.events()[i], i);
    writeTransfers(tally_.transmit(), 0);
    writeTransfers(tally_.receive(), 1);
    const size_t base = words_.all().size();
    for (const auto& [start, begin] : exponential_.histograms) {
      words_.set(start + offsetof(HistogramWords, distance) / sizeof(uint64_t), base + begin - start);
    }
    words_.put(std::span<const double>(exponential_.counts));
    if (!wanted_.sizeClasses) return;
    words_.set(begin + offsetof(TallyWords, sizeClasses) / sizeof(uint64_t), words_.all().size() - begin);
    writeClasses(tally_.transmit(), 0);
    writeClasses(tally_.receive(), 1);
  }

 private:
  static uint64_t low(WideSum sum) { return static_cast<uint64_t>(sum); }
  static uint64_t high(WideSum sum) { return static_cast<uint64_t>(sum >> 64); }

  void writeEvent(const EventTally& event, size_t index) {
    const bool histogram = event.buckets != nullptr;
    const uint64_t flags = uint64_t{event.known} | uint64_t{event.overflow} << 1 | uint64_t{histogram} << 2 |
                           uint64_t{event.named} << 3 | uint64_t{histogram ? event.bounds : 0} << 8;
    words_.putFields(
        EventWords{event.type, event.category, flags, event.count, low(event.sum), high(event.sum), event.last});
    if (!histogram) return;
    const HistogramStart* const start = tally_.startOf(HistogramOf::kEvent, index);
    words_.put(event.sum - (start == nullptr ? 0 : start->sum));
    parts_.clear();
    tally_.eachPart(event, [&](const BucketCounts& counts) { parts_.push_back(&counts); });
    writeHistogram(*event.buckets, start, parts_);
  }

  void writeTransfers(const TransferTally& transfers, uint32_t direction) {
    const TallyPlan& plan = tally_.plan();
    const auto put = [&](HistogramOf::Of of, const Buckets& buckets, const BucketCounts& counts) {
      const BucketCounts* const parts[] = {&counts};
      writeHistogram(buckets, tally_.startOf(of, direction), parts);
    };
    words_.put(transfers.count);
    words_.put(transfers.sizeSum);
    put(HistogramOf::kSizes, plan.sizeBuckets, transfers.sizes);
    words_.put(transfers.durationSum());
    parts_.clear();
    transfers.classes.each([&](size_t, const SizeClass& one) { parts_.push_back(&one.durations); });
    writeHistogram(*plan.at(plan.transferBounds()), tally_.startOf(HistogramOf::kDurations, direction), parts_);
    words_.put(transfers.throughputSum);
    put(HistogramOf::kThroughputs, plan.throughputBuckets, transfers.throughputs);
  }

  void writeHistogram(const Buckets& buckets, const HistogramStart* start, std::span<const BucketCounts* const> parts) {
    uint64_t* const byBound = words_.putZeros(buckets.boundBuckets());
    for (const BucketCounts* const part : parts) part->addByBound(buckets, byBound);
    HistogramWords fields;
    fields.start = startMs(start);
    if (wanted_.exponential) {
      useDistribution(buckets, parts, [&](const DistributionWords& seen, std::span<const double> counts) {
        fields = {fields.start, seen.zeros, seen.first, seen.buckets, 0};
        if (counts.empty()) return;
        exponential_.histograms.push_back({words_.all().size(), exponential_.counts.size()});
        exponential_.counts.insert(exponential_.counts.end(), counts.begin(), counts.end());
      });
    }
    words_.putFields(fields);
  }

  void writeClasses(const TransferTally& transfers, uint32_t direction) {
    const TallyPlan& plan = tally_.plan();
    DirectionWords fields{startMs(tally_.startOf(HistogramOf::kDurations, direction)), 0, transfers.endedInPost,
                          low(transfers.flushSquares), high(transfers.flushSquares)};
    transfers.classes.each([&](size_t, const SizeClass&) { ++fields.classes; });
    words_.putFields(fields);
    transfers.classes.each([&](size_t index, const SizeClass& one) {
      words_.putFields(ClassWords{uint64_t{index}, one.count, low(one.sizeSum), high(one.sizeSum), low(one.durationSum),
                                  high(one.durationSum), low(one.postSum), high(one.postSum)});
      writeDistribution(*plan.at(plan.transferBounds()), one.durations);
      const Buckets* const posts = plan.postBuckets();
      if (posts != nullptr)
        writeDistribution(*posts, one.posts);
      else
        words_.putFields(DistributionWords{});
    });
  }

  void writeDistribution(const Buckets& buckets, const BucketCounts& counts) {
    const BucketCounts* const parts[] = {&counts};
    useDistribution(buckets, parts, [this](const DistributionWords& seen, std::span<const double> found) {
      words_.putFields(seen);
      words_.put(found);
    });
  }

  Words& words_;
  const Tally& tally_;
  const Parts wanted_;
  ExponentialCounts exponential_;
  std::vector<const BucketCounts*> parts_;  // of the histogram being written
};

}  // namespace

void putTally(Words& words, const Tally& tally, Parts wanted) { TallyWriter(words, tally, wanted).write(); }

void putNames(std::vector<std::string>& strings, const Tally& tally) {
  for (const EventTally& event : tally.events()) {
    if (event.named) strings.push_back(toUtf8(event.name));
  }
}

uint64_t layoutOf(const Tally& tally) {
  uint64_t used = 0;
  for (const EventTally& event : tally.events()) used += event.count > 0;
  // Each number only grows, so no two layouts of a tally have the same.
  return uint64_t{tally.events().size()} | used << 16 | uint64_t{tally.histogramStarts().size()} << 32;
}

}  // namespace nixl_otel::addon
