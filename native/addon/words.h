// A stream of numbers as 64-bit words. src/shm-bridge/snapshot.ts reads them in the same order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tally.h"

namespace nixl_otel::addon {

// Version of the interface between the addon and src/shm-bridge: functions, objects, and the order of words. A change
// of either side increments it here and in src/shm-bridge/addon.ts.
constexpr uint64_t kInterfaceVersion = 8;

class Words {
 public:
  // `room`: memory to write to while the words fit in it. `expected`: number of words to make other memory for at once.
  explicit Words(std::span<uint64_t> room = {}, size_t expected = 0)
      : data_(room.data()), capacity_(room.size()), expected_(expected) {
    put(kInterfaceVersion);
  }
  void put(uint64_t word) {
    if (size_ == capacity_) grow(1);
    data_[size_++] = word;
  }
  void put(double value) { put(std::bit_cast<uint64_t>(value)); }
  void put(WideSum sum) {
    put(static_cast<uint64_t>(sum));
    put(static_cast<uint64_t>(sum >> 64));
  }
  void put(std::span<const double> values) { std::memcpy(putZeros(values.size()), values.data(), values.size_bytes()); }
  // Appends words of 0. The pointer to the first one is valid until the next call.
  uint64_t* putZeros(size_t number) {
    if (capacity_ - size_ < number) grow(number);
    uint64_t* const begin = data_ + size_;
    std::fill_n(begin, number, 0);
    size_ += number;
    return begin;
  }
  std::span<const uint64_t> all() const { return {data_, size_}; }
  // Returns whether all words are in the room.
  bool fits() const { return grown_ == nullptr; }

 private:
  void grow(size_t number) {
    const size_t capacity = std::max({expected_, 2 * capacity_, size_ + number});
    auto larger = std::make_unique_for_overwrite<uint64_t[]>(capacity);
    std::copy_n(data_, size_, larger.get());
    grown_ = std::move(larger);
    data_ = grown_.get();
    capacity_ = capacity;
  }

  uint64_t* data_;
  size_t capacity_;
  size_t expected_;
  size_t size_ = 0;
  std::unique_ptr<uint64_t[]> grown_;
};

// Selects the views of histograms. The exponential one has most of a tally's words, and not every reader asks for it.
enum class Views { kByBound, kBoth };

// Appends a tally to `words`, and the names of its events to `strings`.
void putTally(Words& words, std::vector<std::string>& strings, const Tally& tally, Views views = Views::kBoth);

}  // namespace nixl_otel::addon
