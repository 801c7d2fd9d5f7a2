// Shared parts of the native benches: a clock, medians, realistic events of transfers, and as the reference a plain pop
// loop like that of NIXL's consumers.

#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ring/ring_writer.h"
#include "tally/tally.h"

namespace nixl_otel::bench {

inline double nowNs() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct TemporaryDirectory {
  std::string path;
  TemporaryDirectory() {
    // In memory if possible, because rings of agents usually are.
    std::string name = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + std::string("/nixl-otel-bench-XXXXXX");
    path = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
};

// Returns options by NIXL's table of events: 21 known types, the names of wire version 1, NIXL's bounds of times.
inline TallyOptions tallyOptions() {
  TallyOptions options;
  options.typeCategories = {kTransfer,    kTransfer, kTransfer, kTransfer, kMemory, kMemory, kPerformance,
                            kPerformance, kError,    kError,    kError,    kError,  kError,  kError,
                            kError,       kError,    kError,    kError,    kError,  kError,  kSystem};
  const char* names[] = {"agent_tx_bytes",        "agent_rx_bytes",          "agent_tx_requests_num",
                         "agent_rx_requests_num", "agent_memory_registered", "agent_memory_deregistered",
                         "agent_xfer_time",       "agent_xfer_post_time"};
  for (uint32_t type = 0; type < std::size(names); ++type) options.typeNames.emplace_back(names[type], type);
  options.bounds = {{10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000,
                     2500000, 10000000}};
  for (const int32_t category : options.typeCategories) {
    options.typeBounds.push_back(category == kPerformance ? 0 : TallyOptions::kNoBounds);
  }
  for (double bound = 1024; bound <= 1e11; bound *= 4) options.sizeBounds.push_back(bound);
  for (double bound = 1e6; bound <= 1e12; bound *= 4) options.throughputBounds.push_back(bound);
  return options;
}

// Returns the four events of each finished transfer, with sizes and times spread over their usual ranges. The number of
// transfers is too large for a branch predictor to learn their values.
inline std::vector<RingEvent> transferEvents(size_t transfers = 1 << 14) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> size(13, 2);
  std::lognormal_distribution<double> time(6, 1.5);
  std::vector<RingEvent> events;
  const auto add = [&](uint32_t type, int32_t category, const char* name, double value) {
    RingEvent event;
    event.type = type;
    event.category = category;
    event.setName(name);
    event.timestampUs = 1'700'000'000'000'000 + events.size();
    event.value = static_cast<uint64_t>(value) + 1;
    events.push_back(event);
  };
  for (size_t i = 0; i < transfers; ++i) {
    const bool read = random() % 4 == 0;
    const double us = time(random);
    add(kXferPostTime, kPerformance, "agent_xfer_post_time", us / 10);
    add(kXferTime, kPerformance, "agent_xfer_time", us);
    add(read ? kRxBytes : kTxBytes, kTransfer, read ? "agent_rx_bytes" : "agent_tx_bytes", size(random));
    add(read ? kRxRequests : kTxRequests, kTransfer, read ? "agent_rx_requests_num" : "agent_tx_requests_num", 0);
  }
  return events;
}

// A ring whose whole file is mapped, as NIXL's consumers do.
class MappedRing {
 public:
  explicit MappedRing(const std::string& path, const RingLayout& layout) : layout_(layout) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat info;
    ::fstat(fd, &info);
    bytes_ = static_cast<size_t>(info.st_size);
    base_ = static_cast<std::byte*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    ::close(fd);
    slots_ = base_ + layout.header.size;
    mask_ = (bytes_ - layout.header.size) / layout.slot.size - 1;
  }
  ~MappedRing() { ::munmap(base_, bytes_); }
  MappedRing(const MappedRing&) = delete;
  MappedRing& operator=(const MappedRing&) = delete;

  const std::byte* slots() const { return slots_; }

  // Pops one event with an acquire load and a release store, like NIXL's pop. The compiler knows the size of a slot.
  template <size_t kSlotBytes>
  bool pop(std::byte* out) {
    auto readPos = field(layout_.header.readPos);
    const uint64_t read = readPos.load(std::memory_order_relaxed);
    if (read == field(layout_.header.writePos).load(std::memory_order_acquire)) return false;
    std::memcpy(out, slots_ + read * kSlotBytes, kSlotBytes);
    readPos.store((read + 1) & mask_, std::memory_order_release);
    return true;
  }

  // Pops until the ring is empty. Returns the sum of the values.
  uint64_t popAll() { return layout_.slot.size == 16 ? popEach<16>() : popEach<56>(); }

 private:
  template <size_t kSlotBytes>
  uint64_t popEach() {
    std::byte slot[kSlotBytes];
    uint64_t sum = 0;
    while (pop<kSlotBytes>(slot)) sum += loadField<uint64_t>(slot, kSlotBytes - 8);
    return sum;
  }
  std::atomic_ref<uint64_t> field(uint32_t offset) const {
    return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(base_ + offset));
  }
  const RingLayout layout_;
  std::byte* base_;
  const std::byte* slots_;
  size_t bytes_;
  uint64_t mask_;
};

}  // namespace nixl_otel::bench
