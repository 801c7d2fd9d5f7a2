// The table must find the same bucket for each value as a comparison with all bounds.
#include "histogram.h"

#include <random>

#include "check.h"

using namespace nixl_otel;

namespace {

std::vector<double> spaced(double first, double factor, int count) {
  std::vector<double> bounds;
  for (double bound = first; count-- > 0; bound *= factor) bounds.push_back(bound);
  return bounds;
}

const std::vector<double> kBounds[] = {
    {},
    {0},
    {10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000},
    spaced(1, 2, 63),
    spaced(0.3, 1.1, 300),       // one or two in each cell of the table
    {1000, 1001, 1002, 1002.5},  // all in one cell
    {100, 1024, 1025.5, 1e6},    // two in one cell
    {1.5, 0x1p53, 0x1p53 + 2, 0x1.fffffffffffffp63},
    {1e18, 1.7e19, 1.8e19, 1.81e19},  // up to the last cell of integers
    {5, 1e300},
};

// Returns integers on both sides of each bound, and random integers.
std::vector<uint64_t> numbersAround(const std::vector<double>& bounds) {
  std::vector<uint64_t> numbers{0, 1, 2, UINT64_MAX - 1, UINT64_MAX};
  for (const double bound : bounds) {
    if (bound >= 0x1p64) continue;
    const auto floor = static_cast<uint64_t>(bound);
    for (const uint64_t distance : {0, 1, 2, 1000}) {
      numbers.push_back(floor + distance);
      numbers.push_back(floor - distance);
    }
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) numbers.push_back(random() >> (random() % 64));
  return numbers;
}

}  // namespace

TEST(findsBucketsOfIntegers) {
  for (const std::vector<double>& bounds : kBounds) {
    const IntegerBuckets buckets(bounds);
    CHECK_EQ(buckets.count(), bounds.size() + 1);
    for (const uint64_t number : numbersAround(bounds)) {
      size_t expected = 0;
      // Exact: a long double represents every integer of 64 bits and every double.
      while (expected < bounds.size() && static_cast<long double>(number) > static_cast<long double>(bounds[expected]))
        ++expected;
      CHECK_EQ(buckets.find(number), expected);
    }
  }
}

TEST(findsBucketsOfRealNumbers) {
  for (const std::vector<double>& bounds : kBounds) {
    const RealBuckets buckets(bounds);
    CHECK_EQ(buckets.count(), bounds.size() + 1);
    std::vector<double> numbers{0, 0.1, 1e-300, 1e308};
    for (const double bound : bounds) {
      numbers.insert(numbers.end(), {bound, std::nextafter(bound, 0), std::nextafter(bound, 1e308)});
    }
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> rates(10, 10);
    for (int i = 0; i < 100'000; ++i) numbers.push_back(rates(random));
    for (const double number : numbers) {
      const auto expected = std::lower_bound(bounds.begin(), bounds.end(), number) - bounds.begin();
      CHECK_EQ(buckets.find(number), static_cast<size_t>(expected));
    }
  }
}

int main() { return check::run("histogram_test"); }
