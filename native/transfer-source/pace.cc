#include "pace.h"

#include <algorithm>

namespace nixl_otel::transfer_source {

namespace {

double slowdown(const Pace& pace, std::optional<double> SlowFactors::* part, bool slow) {
  if (!slow || !pace.slowFactors) return 1;
  return (*pace.slowFactors.*part).value_or(pace.slowFactors->all.value_or(1));
}

}  // namespace

std::chrono::nanoseconds Pace::postTime(bool slow) const {
  return limitedSeconds(static_cast<double>(postUs) * 1e-6 * slowdown(*this, &SlowFactors::post, slow));
}

std::chrono::nanoseconds Pace::transferTime(uint64_t bytes, bool slow) const {
  double seconds = static_cast<double>(baseUs) * 1e-6 * slowdown(*this, &SlowFactors::base, slow);
  if (const std::optional<size_t> rate = rateFor(rates, bytes)) {
    const double copySeconds = static_cast<double>(bytes) / static_cast<double>(rates[*rate].bytesPerSecond);
    seconds += copySeconds * slowdown(*this, &SlowFactors::bandwidth, slow);
  }
  return postTime(slow) + limitedSeconds(seconds);
}

std::optional<size_t> rateFor(std::span<const SizeRate> rates, uint64_t bytes) {
  const auto above =
      std::find_if(rates.begin(), rates.end(), [bytes](const SizeRate& rate) { return rate.fromBytes > bytes; });
  if (above == rates.begin()) return std::nullopt;
  return above - rates.begin() - 1;
}

std::chrono::nanoseconds limitedSeconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(std::min(seconds, 1e8)));
}

}  // namespace nixl_otel::transfer_source
