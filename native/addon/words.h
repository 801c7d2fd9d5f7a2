// A stream of numbers as 64-bit words, and the order of the words of an agent and its tally.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tally/tally.h"

namespace nixl_otel::addon {

// Version of the interface between the addon and src/shm-bridge: functions, objects, and the order of words. A change
// of either side increments it here and in src/shm-bridge/addon.ts.
constexpr uint64_t kInterfaceVersion = 21;

// The order of words: one list for C++, JavaScript's copy is src/shm-bridge/word-table.ts, and a test compares both.
// Numbers that change between two snapshots lie at the same places as long as `layout` is the same: pages read them
// there.
//
// clang-format off

// An agent: its head, its tally, the exponential counts of its histograms, and the pids of its writers. `words`: all of
// them. `layout`: digest of what is not a number: keys of events, those with events, histograms that began anew.
#define NIXL_OTEL_AGENT_WORDS(X)                                                                                   \
  X(uint64_t, words) X(uint64_t, layout) X(uint64_t, id) X(uint64_t, wireVersion) X(uint64_t, capacity)            \
  X(uint64_t, life) X(uint64_t, pid) X(double, startTimeMs) X(double, lastEventMs) X(uint64_t, flags)              \
  X(uint64_t, writers) X(uint64_t, foundAtDrain) X(uint64_t, peakFound) X(uint64_t, foundFull)                     \
  X(double, foundFullMs) X(uint64_t, restarts) X(uint64_t, resyncs) X(uint64_t, foreignMoves) X(uint64_t, refused) \
  X(double, flushIntervalMs)

// A tally: these words, then each event, then the transfers of both directions: their count, and the sum and histogram
// of sizes, durations and throughputs. Sums have two words, those of throughputs are one double. `sizeClasses`: distance
// from the first of these words to the size classes of both directions, which lie behind all other words of the tally;
// 0 if the snapshot has none.
#define NIXL_OTEL_TALLY_WORDS(X) \
  X(uint64_t, memoryInUse) X(uint64_t, memoryInUseHigh) X(uint64_t, events) X(uint64_t, sizeClasses)

// An event: these words, and if it has a histogram, its sum and its histogram.
#define NIXL_OTEL_EVENT_WORDS(X)                                                                        \
  X(uint64_t, type) X(int64_t, category) X(uint64_t, flags) X(uint64_t, count) X(uint64_t, sum)         \
  X(uint64_t, sumHigh) X(uint64_t, last)

// A histogram: its counts by bound, then these words. `start` is 0 if it began with the tally. Its exponential view, all
// 0 if the snapshot has none: values of 0, index of the first bucket, number of buckets, and the distance from `start`
// to their counts, which are doubles that JavaScript reads in place.
#define NIXL_OTEL_HISTOGRAM_WORDS(X) \
  X(double, start) X(uint64_t, zeros) X(int64_t, first) X(uint64_t, buckets) X(uint64_t, distance)

// The size classes of a direction: these words, then each class with transfers, from the smallest on. `start` is that of
// their histograms.
#define NIXL_OTEL_DIRECTION_WORDS(X)                                                     \
  X(double, start) X(uint64_t, classes) X(uint64_t, endedInPost) X(uint64_t, flushSquares) \
  X(uint64_t, flushSquaresHigh)

// A size class: these words, then for its durations and its posts the words of a distribution, each with its counts.
#define NIXL_OTEL_CLASS_WORDS(X)                                                                                       \
  X(uint64_t, index) X(uint64_t, count) X(uint64_t, bytes) X(uint64_t, bytesHigh) X(uint64_t, duration)                \
  X(uint64_t, durationHigh) X(uint64_t, post) X(uint64_t, postHigh)

// An exponential distribution: values of 0, index of the first bucket, number of buckets. Their counts, doubles, follow.
#define NIXL_OTEL_DISTRIBUTION_WORDS(X) X(uint64_t, zeros) X(int64_t, first) X(uint64_t, buckets)

// clang-format on

#define NIXL_OTEL_FIELD(type, name) type name{};
struct AgentWords {
  NIXL_OTEL_AGENT_WORDS(NIXL_OTEL_FIELD)
};
struct TallyWords {
  NIXL_OTEL_TALLY_WORDS(NIXL_OTEL_FIELD)
};
struct EventWords {
  NIXL_OTEL_EVENT_WORDS(NIXL_OTEL_FIELD)
};
struct HistogramWords {
  NIXL_OTEL_HISTOGRAM_WORDS(NIXL_OTEL_FIELD)
};
struct DirectionWords {
  NIXL_OTEL_DIRECTION_WORDS(NIXL_OTEL_FIELD)
};
struct ClassWords {
  NIXL_OTEL_CLASS_WORDS(NIXL_OTEL_FIELD)
};
struct DistributionWords {
  NIXL_OTEL_DISTRIBUTION_WORDS(NIXL_OTEL_FIELD)
};
#undef NIXL_OTEL_FIELD

class Words {
 public:
  // `room`: memory to write to while the words fit in it. `expected`: number of words to make other memory for at once.
  explicit Words(std::span<uint64_t> room = {}, size_t expected = 0)
      : data_(room.data()), capacity_(room.size()), expected_(expected) {
    put(kInterfaceVersion);
  }
  void put(uint64_t word) { *putZeros(1) = word; }
  void put(double value) { put(std::bit_cast<uint64_t>(value)); }
  void put(WideSum sum) {
    put(static_cast<uint64_t>(sum));
    put(static_cast<uint64_t>(sum >> 64));
  }
  void put(std::span<const double> values) {
    if (!values.empty()) std::memcpy(putZeros(values.size()), values.data(), values.size_bytes());
  }
  // Appends one of the structures above.
  template <typename Fields>
    requires(sizeof(Fields) % sizeof(uint64_t) == 0 && std::is_aggregate_v<Fields>)
  void putFields(const Fields& fields) {
    std::memcpy(putZeros(sizeof fields / sizeof(uint64_t)), &fields, sizeof fields);
  }
  // Replaces a word.
  void set(size_t index, uint64_t word) { data_[index] = word; }
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

// Parts of a tally that not every reader asks for, although they have most of its words.
struct Parts {
  bool exponential = true;  // the exponential view of each histogram
  bool sizeClasses = true;
};

// Appends a tally to `words`.
void putTally(Words& words, const Tally& tally, Parts wanted = {});
// Appends the names of a tally's events, as far as their keys are names.
void putNames(std::vector<std::string>& strings, const Tally& tally);
// Returns a number that changes with each of a tally's keys, with the first event of a key, and with histograms that
// began later than the tally.
uint64_t layoutOf(const Tally& tally);

}  // namespace nixl_otel::addon
