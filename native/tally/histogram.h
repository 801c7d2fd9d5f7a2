// Histograms of a tally: one division of the values into buckets, and two views of the counts.
//
// The thresholds of the division are the union of two lists: the configured bounds, and the bounds of a base-2
// exponential histogram. Therefore one increment per value keeps both histograms exact.
//
// The search for buckets is most of a tally's work, and branch predictors fail on it. Therefore a table maps the
// leading bits of a value to a first bucket, and one comparison without a branch decides between this bucket and the
// next. Few cells of the table have several thresholds: only values in those cells need the loop.

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace nixl_otel {

// A sum of u64 readings. It cannot wrap: 2^64 readings of the largest value fit.
using WideSum = unsigned __int128;

// Buckets of the exponential view, as OpenTelemetry defines them: bucket i holds the values above 2^(i / 16) up to
// 2^((i + 1) / 16). Zero has a separate count. Values from 0 to 1 are in the bucket of 1, values above 2^64 in the last
// bucket.
struct Exponential {
  static constexpr int kScale = 4;
  static constexpr int kPerOctave = 1 << kScale;
  static constexpr int kBuckets = 64 * kPerOctave + 1;  // indices -1 to 1023
  static constexpr int kZero = -2;                      // in place of an index
  // Returns 2^(i / 16), the upper bound of bucket i - 1. i >= 0.
  static double bound(int i) { return std::ldexp(kRoots[i % kPerOctave], i / kPerOctave); }

 private:
  // The doubles nearest to 2^(i / 16). Not computed: src/ground/exponential.ts needs the same ones, and exp2() may
  // differ.
  static constexpr double kRoots[kPerOctave] = {
      1,
      1.0442737824274138,
      1.0905077326652577,
      1.1387886347566916,
      1.189207115002721,
      1.241857812073484,
      1.2968395546510096,
      1.3542555469368927,
      1.4142135623730951,
      1.4768261459394993,
      1.5422108254079407,
      1.6104903319492543,
      1.681792830507429,
      1.7562521603732995,
      1.8340080864093424,
      1.9152065613971474,
  };
};

// Division of values into buckets. Bucket i holds the values above the i-th threshold up to the next one.
class Buckets {
 public:
  // Number of buckets.
  size_t count() const { return thresholds_.size(); }
  // Number of buckets of the view by bounds: one per bound, and one for the values above all of them.
  size_t boundBuckets() const { return boundBuckets_; }
  // Bucket of the view by bounds: i counts values <= bounds[i].
  size_t byBound(size_t bucket) const { return byBound_[bucket]; }
  // End of the buckets that count for each bucket of the view by bounds: they are consecutive.
  const std::vector<uint32_t>& boundEnds() const { return boundEnds_; }
  // Index of the exponential view, or Exponential::kZero.
  int exponential(size_t bucket) const { return exponential_[bucket]; }
  // Digest of the thresholds: equal for divisions that count in the same buckets, in any process. Never 0.
  uint64_t division() const { return division_; }

 protected:
  // Keys have the order of the values. `bounds`: keys of the configured bounds; `kept`: further thresholds, which no
  // view shows; `exponentialBounds`: keys of Exponential::bound(0) to bound(1024). `smallestOf[c]`: smallest key in
  // cell c.
  Buckets(const std::vector<uint64_t>& bounds, const std::vector<uint64_t>& kept,
          const std::vector<uint64_t>& exponentialBounds, const std::vector<uint64_t>& smallestOf);

  // Cell of a value. The bits of non-negative doubles have the order of the values. The exponent and the five bits
  // after it divide the range between two powers of two into 32 cells: each has at most one exponential bound.
  static constexpr int kCellShift = 47;
  static uint64_t cellOf(double value) { return std::bit_cast<uint64_t>(value) >> kCellShift; }
  // Returns the smallest value of a cell.
  static double cellBegin(uint64_t cell) { return std::bit_cast<double>(cell << kCellShift); }

  size_t find(uint64_t key, uint64_t cell) const {
    const size_t first = firstOf_[cell];
    size_t bucket = first + (key > thresholds_[first]);
    while (key > thresholds_[bucket]) [[unlikely]]
      ++bucket;
    return bucket;
  }

 private:
  std::vector<uint16_t> firstOf_;     // by cell: the first bucket that a value of the cell may belong to
  std::vector<uint64_t> thresholds_;  // the greatest key of each bucket
  size_t boundBuckets_;
  uint64_t division_;
  std::vector<uint32_t> byBound_;
  std::vector<uint32_t> boundEnds_;
  std::vector<int16_t> exponential_;
};

// Buckets of integers. Compares with the floors of the bounds: an integer is <= a bound if it is <= the bound's floor.
class IntegerBuckets : public Buckets {
 public:
  explicit IntegerBuckets(const std::vector<double>& bounds, const std::vector<double>& kept = {});

  size_t find(uint64_t value) const {
    if (value < kExact) [[likely]]
      return find(value, static_cast<double>(static_cast<int64_t>(value)));
    // Rounds down, so that the value stays in its cell.
    return find(value, static_cast<double>(value & ~uint64_t{0x7FF}));
  }
  // `same` is the value as a double.
  size_t find(uint64_t value, double same) const { return Buckets::find(value, cellOf(same)); }

 private:
  static constexpr uint64_t kExact = uint64_t{1} << 53;  // doubles represent all smaller integers exactly
};

// Buckets of non-negative real numbers below 2^84, such as rates: bytes of 64 bits by microseconds are below.
class RealBuckets : public Buckets {
 public:
  explicit RealBuckets(const std::vector<double>& bounds, const std::vector<double>& kept = {});

  size_t find(double value) const { return Buckets::find(std::bit_cast<uint64_t>(value), cellOf(value)); }
};

// Number of values in each bucket. Memory is allocated for the buckets between the lowest and the highest value: those
// of an agent are in a few octaves of 64. The counts have 32 bits, so that a histogram takes little of the caches and
// of a state file. A count that exceeds them is carried over.
class BucketCounts {
 public:
  // A count has `times` times 2^32 beside its 32 bits.
  struct Carry {
    uint64_t bucket;
    uint64_t times;
    bool operator==(const Carry&) const = default;
  };

  BucketCounts() = default;
  BucketCounts(const BucketCounts& other) { restore(other.first(), other.counts(), other.carries()); }
  BucketCounts(BucketCounts&&) = default;
  BucketCounts& operator=(BucketCounts&&) = default;

  void add(size_t bucket) {
    if (bucket - first_ >= size_) [[unlikely]]
      widen(bucket);
    if (++counts_[bucket - first_] == 0) [[unlikely]]
      carry(bucket, 1);
  }
  // Requires: add(bucket) was called more often than remove(bucket).
  void remove(size_t bucket) {
    if (counts_[bucket - first_]-- == 0) [[unlikely]]
      carry(bucket, -1);
  }

  // Calls use(bucket, count) for each count above 0, in the order of the buckets.
  template <typename Use>
  void each(Use&& use) const {
    for (size_t i = 0; i < size_; ++i) {
      const uint64_t count = counts_[i] + (carries_.empty() ? 0 : carried(first_ + i));
      if (count != 0) use(first_ + i, count);
    }
  }

  // Adds the counts to the sums of the view by bounds.
  void addByBound(const Buckets& buckets, uint64_t* sums) const;

  // The counts as they stand in memory: of the buckets from first() on, without what was carried over.
  size_t first() const { return first_; }
  std::span<const uint32_t> counts() const { return {counts_.get(), size_}; }
  const std::vector<Carry>& carries() const { return carries_; }
  // Number that differs after every change of carries().
  uint32_t carryChanges() const { return carryChanges_; }
  // Replaces all counts.
  void restore(size_t first, std::span<const uint32_t> counts, std::vector<Carry> carries);
  // The largest size of counts() for this division.
  static size_t largest(const Buckets& buckets) { return (buckets.count() + kStep - 1) / kStep * kStep; }

 private:
  static constexpr size_t kStep = Exponential::kPerOctave;  // buckets for which memory is allocated at once
  void widen(size_t bucket);
  void carry(size_t bucket, int64_t times);
  uint64_t carried(size_t bucket) const;

  // Of a type that no sum and no count has: the compiler then knows that a store to those does not change these.
  unsigned long long first_ = 0;
  unsigned long long size_ = 0;
  std::unique_ptr<uint32_t[]> counts_;
  std::vector<Carry> carries_;  // few, if any
  uint32_t carryChanges_ = 0;
};

}  // namespace nixl_otel
