// A stream of numbers as 64-bit words. src/shm-bridge/snapshot.ts reads them in the same order.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "tally.h"

namespace nixl_otel::addon {

// Version of the interface between the addon and src/shm-bridge: functions, objects, and the order of words. A change
// of either side increments it here and in src/shm-bridge/addon.ts.
constexpr uint64_t kInterfaceVersion = 4;

class Words {
 public:
  Words() { put(kInterfaceVersion); }
  void put(uint64_t word) { words_.push_back(word); }
  void put(double value) { words_.push_back(std::bit_cast<uint64_t>(value)); }
  void put(WideSum sum) {
    put(static_cast<uint64_t>(sum));
    put(static_cast<uint64_t>(sum >> 64));
  }
  // Appends words of 0. The pointer to the first one is valid until the next call.
  uint64_t* putZeros(size_t number) {
    words_.resize(words_.size() + number);
    return words_.data() + words_.size() - number;
  }
  const std::vector<uint64_t>& all() const { return words_; }

 private:
  std::vector<uint64_t> words_;
};

// Appends a tally to `words`, and the names of its events to `strings`.
void putTally(Words& words, std::vector<std::string>& strings, const Tally& tally);

}  // namespace nixl_otel::addon
