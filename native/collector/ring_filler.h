// Allocates the pages that rings of living agents lack, so that an agent does not end by SIGBUS if another program
// fills the file system. This changes no byte of a ring, and neither its size nor its positions.
//
// The pages count as memory of this process's cgroup until the file is removed. Therefore there are limits: for each
// ring, for all rings, and by what the file system and the cgroups have left.
//
// Thread safety: the collector's thread only.

#pragma once

#include <map>
#include <string>

#include "collector/agent.h"
#include "collector/collector_locks.h"
#include "posix/posix.h"

namespace nixl_otel {

class RingFiller {
 public:
  static constexpr uint64_t kMostRingBytes = (uint64_t{16} << 20) + 4096;  // 2^20 slots of 16 bytes
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;               // of all rings whose files exist
  static constexpr uint64_t kFreeMemory = uint64_t{32} << 20;              // that this process and others keep

  // Fills rings for about a millisecond. `mayFill` decides by the path of an agent.
  template <typename MayFill>
  void fill(const AgentMap& agents, MayFill&& mayFill) REQUIRES(collectorThread) {
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(1);
    for (const auto& entry : agents) {
      const std::string& path = entry.first;  // clang 14 lets no lambda use a structured binding
      const auto& agent = entry.second;
      if (Clock::now() >= end) return;
      if (mayFill(path)) agent->fillRings([&](const RingReader& ring) { return fillOne(path, ring); });
    }
  }
  void clear() { filled_.clear(); }

 private:
  struct Filled {
    FileId file;
    uint64_t bytes = 0;
  };

  bool fillOne(const std::string& path, const RingReader& ring);
  uint64_t filledBytes();

  std::map<std::string, Filled> filled_;  // by path
};

}  // namespace nixl_otel
