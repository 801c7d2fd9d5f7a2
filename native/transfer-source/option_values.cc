#include "option_values.h"

#include <charconv>
#include <cstdio>
#include <optional>

#include "ring/ring_layout.h"

namespace nixl_otel::transfer_source {

namespace {

constexpr uint64_t kLargestTransfer = 4ull << 30;
constexpr uint64_t kHighestRate = 1024ull << 30;  // bytes per second
constexpr double kHighestFactor = 1e6;

template <typename Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Parses "64k", "1M", "2G" or "512". The units are powers of 1024.
std::optional<uint64_t> byteCount(std::string_view text, uint64_t most) {
  unsigned shift = 0;
  if (!text.empty()) {
    const char unit = text.back();
    shift = unit == 'k' || unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
  }
  if (shift != 0) text.remove_suffix(1);
  const std::optional<uint64_t> count = parse<uint64_t>(text);
  if (!count || *count == 0 || *count > (most >> shift)) return std::nullopt;
  return *count << shift;
}

}  // namespace

std::string shortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

void OptionValue::refuse(const std::string& allowed) const {
  throw OptionError(name + " is \"" + std::string(text) + "\": use " + allowed);
}

std::string OptionValue::directory() const {
  if (text.empty()) refuse("a directory");
  return std::string(text);
}

// The name becomes a path, which must lie below the telemetry directory.
std::string OptionValue::agentName() const {
  bool good = text.size() <= 1024;
  for (const std::string_view part : split(text, '/')) {
    // 240: a file name holds 255 bytes, and "-4294967295" may follow.
    good = good && !part.empty() && part != "." && part != ".." && part.size() <= 240;
  }
  for (const char c : text) good = good && static_cast<unsigned char>(c) >= 0x20;
  if (!good) refuse("a file name, or folder/name; no empty part, no \".\" or \"..\", no control characters");
  return std::string(text);
}

uint64_t OptionValue::wholeNumber(uint64_t least, uint64_t most) const {
  const std::optional<uint64_t> parsed = parse<uint64_t>(text);
  if (!parsed || *parsed < least || *parsed > most) {
    refuse("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return *parsed;
}

double OptionValue::number(double least, double most) const {
  const std::optional<double> parsed = parse<double>(text);
  // This form of the condition refuses NaN, which from_chars accepts.
  if (!parsed || !(*parsed >= least && *parsed <= most)) {
    refuse("a number from " + shortNumber(least) + " to " + shortNumber(most));
  }
  return *parsed;
}

uint64_t OptionValue::ringCapacity() const {
  const std::optional<uint64_t> slots = parse<uint64_t>(text);
  if (!slots || !validCapacity(*slots)) refuse("a power of two from 2 to 16777216 (slots)");
  return *slots;
}

std::vector<uint64_t> OptionValue::ringCapacities() const {
  std::vector<uint64_t> capacities;
  for (const std::string_view part : split(text, ',')) {
    const std::optional<uint64_t> slots = parse<uint64_t>(part);
    if (!slots || !validCapacity(*slots)) {
      refuse("powers of two from 2 to 16777216 with commas between them, as 4096,1024,16384");
    }
    capacities.push_back(*slots);
  }
  return capacities;
}

std::vector<SizeShare> OptionValue::sizeMix() const {
  std::vector<SizeShare> mix;
  for (const std::string_view part : split(text, ',')) {
    const size_t colon = part.find(':');
    const std::optional<uint64_t> bytes = byteCount(part.substr(0, colon), kLargestTransfer);
    const std::optional<uint64_t> weight =
        colon == std::string_view::npos ? 1 : parse<uint64_t>(part.substr(colon + 1));
    if (!bytes || !weight || *weight == 0 || *weight > 1'000'000) {
      refuse(
          "size:weight pairs as 4k:70,1M:25,16M:5, sizes from 1 to 4G (k, M, G: multiples of 1024), weights from 1 "
          "to 1000000");
    }
    mix.push_back({*bytes, *weight});
  }
  return mix;
}

std::vector<SizeRate> OptionValue::sizeRates() const {
  std::vector<SizeRate> rates;
  for (const std::string_view part : split(text, ',')) {
    const size_t colon = part.find(':');
    const bool hasSize = colon != std::string_view::npos;
    const std::optional<uint64_t> from = hasSize ? byteCount(part.substr(0, colon), kLargestTransfer) : 0;
    const std::optional<uint64_t> rate = byteCount(hasSize ? part.substr(colon + 1) : part, kHighestRate);
    if (!from || !rate || (!rates.empty() && *from <= rates.back().fromBytes)) {
      refuse(
          "bytes per second from 1 to 1024G as 20G (k, M, G: multiples of 1024), and from larger sizes on others as "
          "20G,1M:1G");
    }
    rates.push_back({*from, *rate});
  }
  return rates;
}

SlowFactors OptionValue::slowFactors() const {
  SlowFactors factors;
  for (const std::string_view part : split(text, ',')) {
    const size_t colon = part.find(':');
    const bool isNamed = colon != std::string_view::npos;
    const std::string_view partName = isNamed ? part.substr(0, colon) : "";
    std::optional<double>* const place = !isNamed                  ? &factors.all
                                         : partName == "bandwidth" ? &factors.bandwidth
                                         : partName == "base"      ? &factors.base
                                         : partName == "post"      ? &factors.post
                                                                   : nullptr;
    const std::optional<double> factor = parse<double>(isNamed ? part.substr(colon + 1) : part);
    if (place == nullptr || place->has_value() || !factor || !(*factor >= 1 && *factor <= kHighestFactor)) {
      refuse("a factor from 1 to 1000000 for all parts of the time, or by part as bandwidth:40,base:2,post:150");
    }
    *place = *factor;
  }
  return factors;
}

}  // namespace nixl_otel::transfer_source
