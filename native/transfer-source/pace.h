// The least time of a transfer: --post-us + --base-us + bytes / --bandwidth, each multiplied while the agent is slow.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nixl_otel::transfer_source {

// The rate of transfers from this size on.
struct SizeRate {
  uint64_t fromBytes;
  uint64_t bytesPerSecond;
};

// By how much the parts of the time multiply.
struct SlowFactors {
  std::optional<double> all;  // of each part without a separate factor
  std::optional<double> bandwidth;
  std::optional<double> base;
  std::optional<double> post;
};

struct Pace {
  std::vector<SizeRate> rates;  // ascending by size, without repetition; no rate: the part takes no time
  uint64_t baseUs = 0;
  uint64_t postUs = 0;
  std::optional<double> slowAfterSeconds;
  std::optional<SlowFactors> slowFactors;

  bool takesTime() const { return !rates.empty() || baseUs > 0 || postUs > 0; }
  std::chrono::nanoseconds postTime(bool slow) const;
  // Returns the time of the whole transfer, which begins with its post.
  std::chrono::nanoseconds transferTime(uint64_t bytes, bool slow) const;
};

// Returns the index of the rate for a transfer of this size, or nullopt if there is none.
std::optional<size_t> rateFor(std::span<const SizeRate> rates, uint64_t bytes);

// Returns at most some years, so that a time point can be added.
std::chrono::nanoseconds limitedSeconds(double seconds);

}  // namespace nixl_otel::transfer_source
