// Reads the value of one flag, or says what is wrong with it.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nixl_otel::transfer_source {

// The message names the flag (or its environment variable), the value, and what is allowed.
class OptionError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SizeShare {
  uint64_t bytes;
  uint64_t weight;
};

[[noreturn]] void refuse(const std::string& flag, std::string_view value, const std::string& allowed);

uint64_t wholeNumber(const std::string& flag, std::string_view value, uint64_t least, uint64_t most);
double number(const std::string& flag, std::string_view value, double least, double most);
uint64_t ringCapacity(const std::string& flag, std::string_view value);
std::vector<uint64_t> ringCapacities(const std::string& flag, std::string_view value);  // "4096,1024"
std::vector<SizeShare> sizeMix(const std::string& flag, std::string_view value);  // "4k:70,1M:25"; weight 1 if none
std::string agentName(const std::string& flag, std::string_view value);

}  // namespace nixl_otel::transfer_source
