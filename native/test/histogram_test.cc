// Both views must have the bucket for each value that a comparison with all bounds finds.
#define _GLIBCXX_ASSERTIONS  // an index beyond a table ends the test
#include "tally/histogram.h"

#include <map>
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

// Compares with all bounds, in the only type that represents every integer of 64 bits and every double.
int exponentialIndex(long double value) {
  if (value == 0) return Exponential::kZero;
  int above = 0;
  while (above < Exponential::kBuckets - 1 && value > static_cast<long double>(Exponential::bound(above))) ++above;
  return above - 1;
}

}  // namespace

TEST(boundsArePowersOfTheSixteenthRootOfTwo) {
  for (int i = 0; i < Exponential::kBuckets; ++i) {
    const long double exact = std::exp2(static_cast<long double>(i) / Exponential::kPerOctave);
    CHECK_EQ(Exponential::bound(i), static_cast<double>(exact));
  }
}

TEST(findsBucketsOfIntegers) {
  for (const std::vector<double>& bounds : kBounds) {
    const IntegerBuckets buckets(bounds);
    CHECK_EQ(buckets.boundBuckets(), bounds.size() + 1);
    for (const uint64_t number : numbersAround(bounds)) {
      size_t expected = 0;
      while (expected < bounds.size() && static_cast<long double>(number) > static_cast<long double>(bounds[expected]))
        ++expected;
      const size_t bucket = buckets.find(number);
      CHECK(bucket < buckets.count());
      CHECK_EQ(buckets.byBound(bucket), expected);
      CHECK_EQ(buckets.exponential(bucket), exponentialIndex(number));
    }
  }
}

TEST(findsBucketsOfIntegersAtExponentialBounds) {
  const IntegerBuckets buckets({});
  for (int i = 0; i < Exponential::kBuckets - 1; ++i) {
    const auto bound = static_cast<uint64_t>(Exponential::bound(i));
    for (const uint64_t number : {bound - 1, bound, bound + 1}) {
      CHECK_EQ(buckets.exponential(buckets.find(number)), exponentialIndex(number));
    }
  }
}

TEST(givesSmallWholeNumbersBucketsOfTheirOwn) {
  const IntegerBuckets buckets({10, 25});
  for (uint64_t number = 0; number <= 26; ++number) {
    CHECK(buckets.exponential(buckets.find(number)) != buckets.exponential(buckets.find(number + 1)));
  }
}

TEST(findsBucketsOfRealNumbers) {
  for (const std::vector<double>& bounds : kBounds) {
    const RealBuckets buckets(bounds);
    CHECK_EQ(buckets.boundBuckets(), bounds.size() + 1);
    std::vector<double> numbers{0, 0.1, 1e-300, 1, 0x1p64, std::nextafter(0x1p64, 1e308), 0x1.fffffp83};
    for (const double bound : bounds) {
      numbers.insert(numbers.end(), {bound, std::nextafter(bound, 0), std::nextafter(bound, 1e308)});
    }
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> rates(10, 10);
    for (int i = 0; i < 100'000; ++i) numbers.push_back(rates(random));
    for (const double number : numbers) {
      if (number >= 0x1p84) continue;
      const auto expected = std::lower_bound(bounds.begin(), bounds.end(), number) - bounds.begin();
      const size_t bucket = buckets.find(number);
      CHECK_EQ(buckets.byBound(bucket), static_cast<size_t>(expected));
      CHECK_EQ(buckets.exponential(bucket), exponentialIndex(number));
    }
  }
}

TEST(countsBucketsInAnyOrder) {
  std::mt19937_64 random(1);
  BucketCounts counts, backwards;
  std::map<size_t, uint64_t> expected;
  std::vector<size_t> added;
  for (int i = 0; i < 10'000; ++i) {
    const size_t bucket = i < 5000 ? 500 + random() % 20 : random() % 1050;
    counts.add(bucket);
    ++expected[bucket];
    added.push_back(bucket);
  }
  for (auto bucket = added.rbegin(); bucket != added.rend(); ++bucket) backwards.add(*bucket);
  for (const BucketCounts* each : {&counts, &backwards}) {
    std::map<size_t, uint64_t> found;
    size_t before = 0;
    each->each([&](size_t bucket, uint64_t count) {
      CHECK(found.empty() || bucket > before);
      before = bucket;
      found[bucket] = count;
    });
    CHECK(found == expected);
  }
}

TEST(carriesCountsAbove32Bits) {
  const auto countsOf = [](const BucketCounts& counts) {
    std::map<size_t, uint64_t> all;
    counts.each([&](size_t bucket, uint64_t count) { all[bucket] = count; });
    return all;
  };
  BucketCounts counts;
  counts.restore(16, std::vector<uint32_t>(16, UINT32_MAX), {{20, 3}});
  for (const size_t bucket : {17u, 17u, 20u, 400u}) counts.add(bucket);
  CHECK_EQ(countsOf(counts)[16], uint64_t{UINT32_MAX});
  CHECK_EQ(countsOf(counts)[17], (uint64_t{1} << 32) + 1);
  CHECK_EQ(countsOf(counts)[20], uint64_t{4} << 32);
  CHECK_EQ(counts.carries().size(), 2u);
  const uint32_t before = counts.carryChanges();
  for (int i = 0; i < 2; ++i) counts.remove(17);
  CHECK_EQ(countsOf(counts)[17], uint64_t{UINT32_MAX});
  CHECK_EQ(counts.carries().size(), 1u);
  CHECK_EQ(counts.carryChanges(), before + 1);
  counts.remove(20);
  CHECK_EQ(countsOf(counts)[20], (uint64_t{4} << 32) - 1);
}

int main() { return check::run("histogram_test"); }
