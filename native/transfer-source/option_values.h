// Values of flags and variables.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pace.h"

namespace nixl_otel::transfer_source {

// A wrong setting. The message names the flag or variable, the value, and the allowed values.
class OptionError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SizeShare {
  uint64_t bytes;
  uint64_t weight;
};

// The text of a flag's or variable's value. The methods parse it, and throw OptionError if it is not allowed.
struct OptionValue {
  std::string name;  // "--rate" or "NIXL_TELEMETRY_DIR"
  std::string_view text;

  std::string directory() const;
  std::string agentName() const;
  uint64_t wholeNumber(uint64_t least, uint64_t most) const;
  double number(double least, double most) const;
  uint64_t ringCapacity() const;
  std::vector<uint64_t> ringCapacities() const;  // "4096,1024"
  std::vector<SizeShare> sizeMix() const;        // "4k:70,1M:25"; the default weight is 1
  std::vector<SizeRate> sizeRates() const;       // "20G,1M:1G": a rate, another one from 1 MiB on
  SlowFactors slowFactors() const;               // "40", or by part "bandwidth:40,post:150"

 private:
  [[noreturn]] void refuse(const std::string& allowed) const;
};

std::string shortNumber(double value);

}  // namespace nixl_otel::transfer_source
