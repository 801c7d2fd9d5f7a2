#include "tally/histogram.h"

#include <utility>

namespace nixl_otel {
namespace {

// Upper bound of a real number's cells: 2^84.
constexpr double kRealEnd = 0x1p84;

std::vector<uint64_t> floors(const std::vector<double>& bounds) {
  std::vector<uint64_t> floors;
  for (const double bound : bounds) {
    floors.push_back(bound >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(std::floor(bound)));
  }
  return floors;
}

std::vector<uint64_t> bitsOf(const std::vector<double>& bounds) {
  std::vector<uint64_t> bits;
  for (const double bound : bounds) bits.push_back(std::bit_cast<uint64_t>(bound));
  return bits;
}

std::vector<double> exponentialBounds() {
  std::vector<double> bounds;
  for (int i = 0; i < Exponential::kBuckets; ++i) bounds.push_back(Exponential::bound(i));
  return bounds;
}

// FNV-1a of 64 bits.
uint64_t digestOf(const std::vector<uint64_t>& numbers) {
  uint64_t digest = 0xCBF29CE484222325;
  for (const uint64_t number : numbers) {
    for (int shift = 0; shift < 64; shift += 8) digest = (digest ^ (number >> shift & 0xFF)) * 0x100000001B3;
  }
  return digest == 0 ? 1 : digest;
}

}  // namespace

Buckets::Buckets(const std::vector<uint64_t>& bounds, const std::vector<uint64_t>& kept,
                 const std::vector<uint64_t>& exponentialBounds, const std::vector<uint64_t>& smallestOf)
    : thresholds_{0}, boundBuckets_(bounds.size() + 1) {
  thresholds_.insert(thresholds_.end(), bounds.begin(), bounds.end());
  thresholds_.insert(thresholds_.end(), kept.begin(), kept.end());
  thresholds_.insert(thresholds_.end(), exponentialBounds.begin(), exponentialBounds.end());
  thresholds_.push_back(UINT64_MAX);  // no key exceeds it: every search ends at the last bucket
  std::sort(thresholds_.begin(), thresholds_.end());
  thresholds_.erase(std::unique(thresholds_.begin(), thresholds_.end()), thresholds_.end());
  division_ = digestOf(thresholds_);
  const auto placeIn = [](const std::vector<uint64_t>& sorted, uint64_t key) {
    return std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin();
  };
  for (const uint64_t threshold : thresholds_) {
    byBound_.push_back(static_cast<uint32_t>(placeIn(bounds, threshold)));
    const auto index = std::min<std::ptrdiff_t>(placeIn(exponentialBounds, threshold), Exponential::kBuckets - 1) - 1;
    exponential_.push_back(static_cast<int16_t>(threshold == 0 ? Exponential::kZero : index));
  }
  boundEnds_.resize(boundBuckets_);
  for (size_t bucket = 0; bucket < byBound_.size(); ++bucket) {
    boundEnds_[byBound_[bucket]] = static_cast<uint32_t>(bucket + 1);
  }
  firstOf_.reserve(smallestOf.size());
  for (const uint64_t smallest : smallestOf) firstOf_.push_back(static_cast<uint16_t>(placeIn(thresholds_, smallest)));
}

IntegerBuckets::IntegerBuckets(const std::vector<double>& bounds, const std::vector<double>& kept)
    : Buckets(floors(bounds), floors(kept), floors(exponentialBounds()), [] {
        std::vector<uint64_t> smallest;
        for (uint64_t cell = 0; cell < cellOf(0x1p64); ++cell) {
          smallest.push_back(static_cast<uint64_t>(std::ceil(cellBegin(cell))));
        }
        return smallest;
      }()) {}

RealBuckets::RealBuckets(const std::vector<double>& bounds, const std::vector<double>& kept)
    : Buckets(bitsOf(bounds), bitsOf(kept), bitsOf(exponentialBounds()), [] {
        std::vector<uint64_t> smallest;
        for (uint64_t cell = 0; cell < cellOf(kRealEnd); ++cell) {
          smallest.push_back(std::bit_cast<uint64_t>(cellBegin(cell)));
        }
        return smallest;
      }()) {}

// Sums of consecutive counts take a tenth of the time of a search for the sum of each count.
void BucketCounts::addByBound(const Buckets& buckets, uint64_t* sums) const {
  const uint32_t* const counts = counts_.get();
  size_t next = 0;
  for (const uint32_t boundEnd : buckets.boundEnds()) {
    const size_t end = boundEnd <= first_ ? 0 : std::min<size_t>(boundEnd - first_, size_);
    uint64_t sum = 0;
    for (; next < end; ++next) sum += counts[next];
    *sums++ += sum;
  }
  sums -= buckets.boundEnds().size();
  for (const Carry& carry : carries_) sums[buckets.byBound(carry.bucket)] += carry.times << 32;
}

void BucketCounts::restore(size_t first, std::span<const uint32_t> counts, std::vector<Carry> carries) {
  counts_ = counts.empty() ? nullptr : std::make_unique<uint32_t[]>(counts.size());
  std::copy(counts.begin(), counts.end(), counts_.get());
  first_ = first;
  size_ = counts.size();
  carries_ = std::move(carries);
}

// Makes room for the bucket. Allocates whole steps of buckets, because the next values are probably near.
void BucketCounts::widen(size_t bucket) {
  const size_t begin = bucket / kStep * kStep;
  const size_t first = size_ == 0 ? begin : std::min<size_t>(first_, begin);
  const size_t end = std::max<size_t>(first_ + size_, begin + kStep);
  auto counts = std::make_unique<uint32_t[]>(end - first);
  if (size_ != 0) std::copy_n(counts_.get(), size_, counts.get() + (first_ - first));
  counts_ = std::move(counts);
  first_ = first;
  size_ = end - first;
}

// `times` is 1 after a count passed the end of its 32 bits, -1 after it passed their beginning.
void BucketCounts::carry(size_t bucket, int64_t times) {
  ++carryChanges_;
  const auto found = std::find_if(carries_.begin(), carries_.end(), [&](const Carry& c) { return c.bucket == bucket; });
  if (found != carries_.end()) {
    found->times += static_cast<uint64_t>(times);
  } else {
    carries_.push_back({bucket, static_cast<uint64_t>(times)});
  }
  std::erase_if(carries_, [](const Carry& c) { return c.times == 0; });
}

uint64_t BucketCounts::carried(size_t bucket) const {
  for (const Carry& carry : carries_) {
    if (carry.bucket == bucket) return carry.times << 32;
  }
  return 0;
}

}  // namespace nixl_otel
