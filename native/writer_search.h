// Who writes a ring: the process that maps its file shared and writable. A ring holds no pid, so this is read from
// /proc/*/maps. Our own mappings and read-only ones do not count; processes of other users, or of another PID
// namespace, cannot be seen.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ring_file.h"

namespace nixl_otel {

struct ProcessId {
  pid_t pid = 0;
  uint64_t startTime = 0;  // clock ticks since boot: tells a process from a later one with its number
  bool operator==(const ProcessId&) const = default;
};

// 0 if there is no such process; kStartUnknown where that cannot be said, as when this process has no descriptor left.
uint64_t processStartTime(pid_t pid);
inline constexpr uint64_t kStartUnknown = UINT64_MAX;

enum class MapsAnswer : uint8_t { kMaps, kDoesNot, kCannotSee };

// What was seen of processes in one pass over the agents: those that share a process share the look at it. The kernel
// takes milliseconds to print the mappings of a large one.
class ProcessLooks {
 public:
  uint64_t startTime(pid_t pid);
  // Whether this process maps this file for writing.
  MapsAnswer mapsForWriting(pid_t pid, const FileId& file);

 private:
  struct Mapped {
    MapsAnswer answer;
    std::set<FileId> files;
  };
  std::map<pid_t, uint64_t> startTimes_;
  std::map<pid_t, Mapped> mapped_;
};

// Who holds a lock on a file with this inode: consumers do, agents never.
using FileLocks = std::set<std::pair<pid_t, ino_t>>;
FileLocks allFileLocks();

// One pass over all processes, newest first, cut into slices: with thousands of processes, or with ones that have
// thousands of mappings, a whole pass takes longer than a drain may wait.
class WriterSearch {
 public:
  bool running() const { return running_; }
  // `consumers`: a consumer maps the ring as a writer does. Who holds its lock and maps it once is none.
  void begin(std::set<FileId> wanted, FileLocks consumers = {});
  // Goes on until the deadline. True when the pass is complete, or when all wanted files have their writer.
  bool step(std::chrono::steady_clock::time_point deadline);
  const std::map<FileId, ProcessId>& found() const { return found_; }

 private:
  bool running_ = false;
  std::set<FileId> wanted_;
  FileLocks consumers_;
  std::vector<pid_t> pids_;
  size_t next_ = 0;
  std::map<FileId, ProcessId> found_;
};

}  // namespace nixl_otel
