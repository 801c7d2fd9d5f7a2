// Time by size: the transfers of one direction in classes of the bytes of the whole request. Class 0 holds those up to
// 1 KiB, each further one those up to twice as much, the last one those over 1 GiB.

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tally/histogram.h"

namespace nixl_otel {

// Sums and histograms of one class. A histogram of another division begins at 0, and its sum with it; see
// HistogramStart. Posts are those that the ring has directly before the time of their transfer.
struct SizeClass {
  uint64_t count = 0;
  WideSum sizeSum = 0;
  WideSum durationSum = 0;
  WideSum postSum = 0;
  BucketCounts durations;
  BucketCounts posts;
};

class SizeClasses {
 public:
  static constexpr unsigned kSmallestBits = 10;  // class 0: up to 2^10 bytes
  static constexpr unsigned kLargestBits = 30;   // the last but one: up to 2^30 bytes
  static constexpr size_t kCount = kLargestBits - kSmallestBits + 2;

  SizeClasses() = default;
  SizeClasses(const SizeClasses& other) {
    other.each([this](size_t index, const SizeClass& one) { classes_[index] = std::make_unique<SizeClass>(one); });
  }
  SizeClasses(SizeClasses&&) = default;
  SizeClasses& operator=(SizeClasses&&) = default;

  static size_t indexOf(uint64_t bytes) {
    constexpr uint64_t kBelowSmallest = (uint64_t{1} << kSmallestBits) - 1;
    const uint64_t largestOfSameClass = (bytes - (bytes != 0)) | kBelowSmallest;
    return std::min<size_t>(static_cast<size_t>(std::bit_width(largestOfSameClass)) - kSmallestBits, kCount - 1);
  }
  // Largest bytes of the class. Of the last one: all.
  static constexpr uint64_t largestOf(size_t index) {
    return index + 1 < kCount ? uint64_t{1} << (kSmallestBits + index) : UINT64_MAX;
  }

  // A class costs nothing before its first transfer.
  SizeClass& at(size_t index) {
    if (classes_[index] == nullptr) [[unlikely]]
      begin(index);
    return *classes_[index];
  }
  // nullptr: it has no transfers.
  const SizeClass* find(size_t index) const { return classes_[index].get(); }
  // Calls use(index, class) for each class with transfers, from the smallest on.
  template <typename Use>
  void each(Use&& use) const {
    for (size_t index = 0; index < kCount; ++index) {
      if (classes_[index] != nullptr) use(index, *classes_[index]);
    }
  }
  template <typename Use>
  void each(Use&& use) {
    for (size_t index = 0; index < kCount; ++index) {
      if (classes_[index] != nullptr) use(index, *classes_[index]);
    }
  }

 private:
  [[gnu::noinline]] void begin(size_t index) { classes_[index] = std::make_unique<SizeClass>(); }

  std::unique_ptr<SizeClass> classes_[kCount];
};

}  // namespace nixl_otel
