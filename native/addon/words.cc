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

// Writes the exponential view of a histogram into its words, and appends its counts.
void putExponential(const Buckets& buckets, std::span<const BucketCounts* const> parts, size_t start,
                    HistogramWords& words, ExponentialCounts& out) {
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
  if (first > last) return;
  words.first = first;
  words.buckets = static_cast<uint64_t>(last - first + 1);
  out.histograms.push_back({start, out.counts.size()});
  const auto begin = exponentialCounts.begin() + (first + 1);
  const auto end = begin + static_cast<ptrdiff_t>(words.buckets);
  out.counts.insert(out.counts.end(), begin, end);
  std::fill(begin, end, 0);
}

class TallyWriter {
 public:
  TallyWriter(Words& words, const Tally& tally, Views views) : words_(words), tally_(tally), views_(views) {}

  void write() {
    const WideSum inUse = tally_.memoryInUse();
    words_.putFields(
        TallyWords{static_cast<uint64_t>(inUse), static_cast<uint64_t>(inUse >> 64), uint64_t{tally_.events().size()}});
    for (size_t i = 0; i < tally_.events().size(); ++i) writeEvent(tally_.events()[i], i);
    writeTransfers(tally_.transmit(), 0);
    writeTransfers(tally_.receive(), 1);
    const size_t base = words_.all().size();
    for (const auto& [start, begin] : exponential_.histograms) {
      words_.set(start + offsetof(HistogramWords, distance) / sizeof(uint64_t), base + begin - start);
    }
    words_.put(std::span<const double>(exponential_.counts));
  }

 private:
  void writeEvent(const EventTally& event, size_t index) {
    const bool histogram = event.buckets != nullptr;
    const uint64_t flags = uint64_t{event.known} | uint64_t{event.overflow} << 1 | uint64_t{histogram} << 2 |
                           uint64_t{event.named} << 3 | uint64_t{histogram ? event.bounds : 0} << 8;
    words_.putFields(EventWords{event.type, event.category, flags, event.count, static_cast<uint64_t>(event.sum),
                                static_cast<uint64_t>(event.sum >> 64), event.last});
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
    if (views_ == Views::kBoth) putExponential(buckets, parts, words_.all().size(), fields, exponential_);
    words_.putFields(fields);
  }

  Words& words_;
  const Tally& tally_;
  const Views views_;
  ExponentialCounts exponential_;
  std::vector<const BucketCounts*> parts_;  // of the histogram being written
};

}  // namespace

void putTally(Words& words, const Tally& tally, Views views) { TallyWriter(words, tally, views).write(); }

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
