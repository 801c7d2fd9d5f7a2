// Buckets over given upper bounds: bucket i counts values <= bounds[i], the last bucket counts values above all bounds.
//
// The search for buckets is most of a tally's work, and branch predictors fail on it. Therefore a table maps the
// leading bits of a value to a first bucket, and one comparison without a branch decides between this bucket and the
// next. If a cell of the table has several bounds, the search needs a loop.

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace nixl_otel {

// A sum of u64 readings. It cannot wrap: 2^64 readings of the largest value fit.
using WideSum = unsigned __int128;

// Cell of a value. The bits of non-negative doubles have the order of the values. The exponent and the three bits after
// it divide the range between two powers of two into eight cells.
inline constexpr uint32_t kCellShift = 49;
inline uint64_t cellOf(double value) { return std::bit_cast<uint64_t>(value) >> kCellShift; }

// Finds buckets by keys that have the order of the values.
class BucketTable {
 public:
  // `smallestOf[c]` is the smallest key in cell c.
  BucketTable(std::vector<uint64_t> thresholds, const std::vector<uint64_t>& smallestOf)
      : thresholds_(std::move(thresholds)) {
    thresholds_.push_back(UINT64_MAX);  // no key exceeds it: every search ends at the last bucket
    cells_.reserve(smallestOf.size() + 1);
    for (const uint64_t smallest : smallestOf) {
      const auto at = std::lower_bound(thresholds_.begin(), thresholds_.end(), smallest);
      cells_.push_back({*at, static_cast<uint64_t>(at - thresholds_.begin())});
    }
    cells_.push_back({UINT64_MAX, thresholds_.size() - 1});  // sentinel
    for (size_t c = 0; c + 1 < cells_.size(); ++c) hasSharedCells_ |= cells_[c + 1].first > cells_[c].first + 1;
  }

  size_t find(uint64_t key, uint64_t cell) const {
    const Cell& begin = cells_[cell];
    size_t i = begin.first + (key > begin.threshold);
    if (hasSharedCells_) [[unlikely]]
      while (key > thresholds_[i]) ++i;
    return i;
  }

  size_t buckets() const { return thresholds_.size(); }

 private:
  // The first threshold that a key of the cell may exceed, and its index. In one struct, because each search reads
  // both.
  struct Cell {
    uint64_t threshold;
    uint64_t first;
  };
  std::vector<Cell> cells_;
  std::vector<uint64_t> thresholds_;
  bool hasSharedCells_ = false;  // a cell has more than one threshold
};

// Buckets of integers. Compares with the floors of the bounds: an integer is <= a bound if it is <= the bound's floor.
class IntegerBuckets {
 public:
  explicit IntegerBuckets(const std::vector<double>& bounds) : table_(floors(bounds), smallestOf()) {}

  size_t find(uint64_t value) const {
    if (value < kExact) [[likely]]
      return find(value, static_cast<double>(static_cast<int64_t>(value)));
    // Rounds down, so that the value stays in its cell.
    return find(value, static_cast<double>(value & ~uint64_t{0x7FF}));
  }
  // `same` is the value as a double.
  size_t find(uint64_t value, double same) const { return table_.find(value, cellOf(same)); }

  size_t count() const { return table_.buckets(); }

 private:
  static constexpr uint64_t kExact = uint64_t{1} << 53;  // doubles represent all smaller integers exactly

  static std::vector<uint64_t> smallestOf() {
    std::vector<uint64_t> smallest;
    for (uint64_t cell = 0; cell < cellOf(0x1p64); ++cell) {
      smallest.push_back(static_cast<uint64_t>(std::ceil(std::bit_cast<double>(cell << kCellShift))));
    }
    return smallest;
  }

  static std::vector<uint64_t> floors(const std::vector<double>& bounds) {
    std::vector<uint64_t> floors;
    for (const double bound : bounds) {
      floors.push_back(bound >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(std::floor(bound)));
    }
    return floors;
  }

  BucketTable table_;
};

// Buckets of non-negative real numbers, such as rates.
class RealBuckets {
 public:
  explicit RealBuckets(const std::vector<double>& bounds) : table_(bitsOf(bounds), smallestOf()) {}

  size_t find(double value) const { return table_.find(std::bit_cast<uint64_t>(value), cellOf(value)); }
  size_t count() const { return table_.buckets(); }

 private:
  static std::vector<uint64_t> smallestOf() {
    std::vector<uint64_t> smallest;
    for (uint64_t cell = 0; cell < uint64_t{1} << (63 - kCellShift); ++cell) smallest.push_back(cell << kCellShift);
    return smallest;
  }

  static std::vector<uint64_t> bitsOf(const std::vector<double>& bounds) {
    std::vector<uint64_t> bits;
    for (const double bound : bounds) bits.push_back(std::bit_cast<uint64_t>(bound));
    return bits;
  }

  BucketTable table_;
};

}  // namespace nixl_otel
