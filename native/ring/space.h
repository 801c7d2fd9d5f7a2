// Space that a file system has left, and that rings there may still take. An agent sets the size of its ring and
// allocates no page. If it stores into a page for which the file system has no room, the kernel ends it with SIGBUS.

#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "sync/mutex.h"

namespace nixl_otel {

constexpr uint64_t kBlockBytes = 512;  // unit of st_blocks

struct Space {
  uint64_t totalBytes = 0;  // 0: without a limit, such as a tmpfs with size=0, or not known
  uint64_t freeBytes = 0;
};

Space spaceOf(int fd);

// True if an agent can have made this file for a ring.
bool hasSizeOfRing(const struct stat& info);
// Returns the bytes of such a file that a store may yet allocate. 0 for another file.
uint64_t lackOf(const struct stat& info);

// Space of the directory of a place, as of the last look.
struct PlaceSpace {
  Space space;
  uint64_t lackBytes = 0;  // of the rings of all places on this file system whose agents may live
  size_t live = 0;         // rings of the place whose agents live, or may live
  uint64_t liveBytes = 0;  // allocated for them
  uint64_t ringBytes = 0;  // size of the largest of them
  size_t ended = 0;        // rings of agents that ended, or that could not start
  uint64_t endedBytes = 0;
  uint64_t stateBytes = 0;
};

// What the rings of each file system lack, as of the last look of the collector's thread. State takes no space that
// they may need.
//
// Thread safety: any thread.
class RingSpace {
 public:
  static RingSpace& instance();

  // Space that state leaves free, for agents that start: a sixteenth of the file system, but at least room for 15 rings
  // of the default size.
  static uint64_t reserveOf(const Space& space);

  void noteLacks(std::map<dev_t, uint64_t> lackByDevice);
  // True if a file of this file system may allocate so much. Otherwise sets `reason`.
  bool mayTake(int fd, uint64_t bytes, std::string& reason) const;

 private:
  mutable Mutex mutex_;
  std::map<dev_t, uint64_t> lackByDevice_ GUARDED_BY(mutex_);
};

// Returns the bytes that the machine, the memory cgroup of this process and those above it leave free: beyond them the
// kernel ends a process instead of refusing memory. Unused pages of files count as free. UINT64_MAX: not known.
// `root`: where /proc and /sys are.
uint64_t freeMemory(const std::string& root = "");

}  // namespace nixl_otel
