// What agents of a test pushed, in memory that all processes of the test share, and the tally that a consumer which
// never dies would have.

#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "ring/ring_event.h"
#include "ring/ring_layout.h"
#include "tally/tally.h"
#include "transfer-source/event_names.h"

namespace nixl_otel::kills {

// Life of an agent: the way in which its incarnations follow each other. Each incarnation is a process of its own.
enum class Habit : uint8_t {
  kSteady,       // one incarnation; its ring is never more than half full
  kFull,         // one incarnation; it fills its small ring and waits for room
  kRestarting,   // rebuilds its empty ring: with the same or another capacity and wire version
  kReplacing,    // removes its empty ring and makes a new file under the name
  kInterrupted,  // rebuilds its ring at any time, also with events that no consumer has taken
};

struct Incarnation {
  int32_t version;
  uint64_t capacity;
  std::atomic<uint64_t> begun;   // events that it began to push
  std::atomic<uint64_t> pushed;  // events that its ring accepted
  uint64_t left;                 // upper bound of the events that the next rebuild wiped
};

struct AgentLog {
  static constexpr uint32_t kMost = 2000;
  Habit habit;
  char name[32];
  std::atomic<uint32_t> count;    // number of incarnations that began
  std::atomic<uint32_t> settled;  // number of those that may push, by assumption B of drain_protocol.h
  std::atomic<uint64_t> shown;    // the most events that a consumer has shown
  std::array<Incarnation, kMost> each;

  uint64_t begun() const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) sum += each[i].begun;
    return sum;
  }
};

// Plain memory that is shared with processes forked later, zeroed.
template <typename T>
T* sharedMemory() {
  void* memory = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return new (memory) T();
}

inline uint64_t mixed(uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

inline constexpr uint32_t kUnknownType = 500;        // and the two after it
inline constexpr uint32_t kIncarnationType = 1000;   // of an interrupted agent's first incarnation
inline constexpr uint32_t kMostInterruptions = 250;  // a tally keeps 256 unknown keys
inline constexpr uint64_t kGroup = 4;                // events that an agent pushes without a pause

inline RingEvent typedEvent(uint32_t type, uint64_t value) {
  RingEvent event;
  event.type = type;
  event.value = value;
  if (type < transfer_source::kEventNames.size()) {
    event.category = transfer_source::kEventNames[type].category;
    event.setName(transfer_source::kEventNames[type].version1);
  } else {
    event.category = kCustom;
    event.setName("unknown-" + std::to_string(type));
  }
  return event;
}

// Returns an event of an incarnation: always the same one, so that the log keeps numbers only. Events of an interrupted
// agent have a type per incarnation, which shows how many of them counted.
inline RingEvent eventAt(const AgentLog& log, uint32_t incarnation, uint64_t index) {
  const uint64_t group = mixed(mixed(incarnation) ^ index / kGroup);
  const uint64_t value = mixed(group + index % kGroup) % 100'000;
  if (log.habit == Habit::kInterrupted) return typedEvent(kIncarnationType + incarnation, value);
  const bool hasTransfer = log.habit != Habit::kFull && group % 8 != 0;
  switch (index % kGroup) {
    case 0:
      return hasTransfer ? typedEvent(kXferPostTime, value % 100) : typedEvent(kMemoryRegistered, 100'000 + value);
    case 1:
      return hasTransfer ? typedEvent(kXferTime, value) : typedEvent(kUnknownType + value % 3, value);
    case 2:
      return hasTransfer ? typedEvent(kTxBytes + group / 8 % 2, value * value)
                         : typedEvent(kFirstError + value % 12, 1);
    default:
      return hasTransfer ? typedEvent(kTxRequests + group / 8 % 2, 1) : typedEvent(kMemoryDeregistered, value);
  }
}

inline TallyOptions tallyOptions() {
  TallyOptions options;
  for (uint32_t type = 0; type < transfer_source::kEventNames.size(); ++type) {
    options.typeCategories.push_back(transfer_source::kEventNames[type].category);
    options.typeNames.emplace_back(transfer_source::kEventNames[type].version1, type);
    const bool isTime = type == kXferTime || type == kXferPostTime;
    options.typeBounds.push_back(isTime ? 0 : TallyOptions::kNoBounds);
  }
  options.bounds = {{10, 100, 1000, 10'000}};
  options.sizeBounds = {1e4, 1e6, 1e8};
  options.throughputBounds = {1e6, 1e9, 1e12};
  return options;
}

// Folds the first `count` events of an incarnation as a consumer does that never dies.
inline void foldInto(Tally& tally, const AgentLog& log, uint32_t incarnation, uint64_t count) {
  constexpr uint64_t kChunk = 4096;
  const RingLayout& layout = *releasedLayout(log.each[incarnation].version);
  std::vector<std::byte> slots(kChunk * layout.slot.size);
  std::vector<TappedEvent> none;
  if (incarnation != 0) tally.restart();
  for (uint64_t done = 0; done < count; done += kChunk) {
    const auto few = static_cast<uint32_t>(std::min(kChunk, count - done));
    for (uint32_t i = 0; i < few; ++i) {
      encodeSlot(layout.slot, slots.data() + i * layout.slot.size, eventAt(log, incarnation, done + i));
    }
    tally.fold({layout, slots.data(), few, false, false, incarnation}, {}, none);
  }
}

// Returns the numbers of a tally as lines in a fixed order: equal for two tallies of the same events, whatever the
// chunks were. `withGaps`: memory in use is approximate.
inline std::vector<std::string> describe(const Tally& tally, bool withGaps) {
  std::vector<std::string> lines;
  const auto wide = [](WideSum sum) {
    return std::to_string(static_cast<double>(sum)) + " (" + std::to_string(static_cast<uint64_t>(sum)) + ")";
  };
  const auto counts = [](const auto& each) {
    std::string text;
    each([&](size_t bucket, uint64_t count) { text += " " + std::to_string(bucket) + ":" + std::to_string(count); });
    return text;
  };
  for (const EventTally& event : tally.events()) {
    if (event.count == 0) continue;
    std::map<size_t, uint64_t> buckets;
    tally.eachCount(event, [&](size_t bucket, uint64_t count) { buckets[bucket] += count; });
    lines.push_back("event " + (event.name.empty() ? std::to_string(event.type) : event.name) + " of category " +
                    std::to_string(event.category) + ": count " + std::to_string(event.count) + ", sum " +
                    wide(event.sum) + ", last " + std::to_string(event.last) + ", buckets" + counts([&](auto use) {
                      for (const auto& [bucket, count] : buckets) use(bucket, count);
                    }));
  }
  for (const TransferTally* transfers : {&tally.transmit(), &tally.receive()}) {
    char throughput[40];
    std::snprintf(throughput, sizeof throughput, "%.9g", transfers->throughputSum);
    const auto each = [&](const BucketCounts& of) { return counts([&](auto use) { of.each(use); }); };
    lines.push_back("transfers: count " + std::to_string(transfers->count) + ", size " + wide(transfers->sizeSum) +
                    ", throughput " + throughput + ", sizes" + each(transfers->sizes) + ", throughputs" +
                    each(transfers->throughputs) + ", ended in post " + std::to_string(transfers->endedInPost));
    transfers->classes.each([&](size_t index, const SizeClass& one) {
      lines.push_back("class " + std::to_string(index) + ": count " + std::to_string(one.count) + ", size " +
                      wide(one.sizeSum) + ", duration " + wide(one.durationSum) + ", post " + wide(one.postSum) +
                      ", durations" + each(one.durations) + ", posts" + each(one.posts));
    });
  }
  lines.push_back("memory " + wide(tally.memoryInUse()));
  if (!withGaps) lines.push_back(tally.memoryApproximate() ? "approximate" : "exact");
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace nixl_otel::kills
