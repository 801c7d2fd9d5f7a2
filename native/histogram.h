// Counts per bucket over given upper bounds: counts[i] takes values <= bounds[i], the last one what is above them all.

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace nixl_otel {

// A sum of u64 readings that cannot wrap: 2^64 readings of the largest value still fit.
using WideSum = unsigned __int128;

// Of whole numbers. An integer is <= a bound if it is <= the bound's floor, so all comparing is done in integers.
class IntegerHistogram {
 public:
  IntegerHistogram() : IntegerHistogram(std::vector<double>{}) {}

  explicit IntegerHistogram(const std::vector<double>& bounds) : counts_(bounds.size() + 1) {
    thresholds_.reserve(bounds.size());
    for (const double bound : bounds) {
      thresholds_.push_back(bound >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(std::floor(bound)));
    }
    // Where to begin for a value of so many bits: a few steps then find the bucket, whatever the bounds are.
    for (uint32_t bits = 0; bits <= 64; ++bits) {
      const uint64_t smallest = bits == 0 ? 0 : uint64_t{1} << (bits - 1);
      begin_[bits] = static_cast<uint16_t>(bucketOf(smallest));
    }
  }

  void add(uint64_t value) {
    size_t i = begin_[std::bit_width(value)];
    while (i < thresholds_.size() && value > thresholds_[i]) ++i;
    ++counts_[i];
    sum_ += value;
  }

  const std::vector<uint64_t>& counts() const { return counts_; }
  WideSum sum() const { return sum_; }

 private:
  size_t bucketOf(uint64_t value) const {
    return static_cast<size_t>(std::lower_bound(thresholds_.begin(), thresholds_.end(), value) - thresholds_.begin());
  }

  std::vector<uint64_t> thresholds_;
  std::vector<uint64_t> counts_;
  WideSum sum_ = 0;
  uint16_t begin_[65] = {};
};

// Of rates, which are no whole numbers.
class RealHistogram {
 public:
  RealHistogram() : counts_(1) {}
  explicit RealHistogram(const std::vector<double>& bounds) : bounds_(bounds), counts_(bounds.size() + 1) {}

  void add(double value) {
    const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value);
    ++counts_[static_cast<size_t>(at - bounds_.begin())];
    sum_ += value;
  }

  const std::vector<uint64_t>& counts() const { return counts_; }
  double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<uint64_t> counts_;
  double sum_ = 0;
};

}  // namespace nixl_otel
