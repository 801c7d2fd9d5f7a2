#include "ring/space.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "posix/posix.h"
#include "ring/ring_layout.h"

namespace nixl_otel {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kLeastReserve = uint64_t{1} << 20;
constexpr uint64_t kMostReserve = uint64_t{64} << 20;

// Returns the number in a file of a cgroup; UINT64_MAX for `max`, and if it cannot be read.
uint64_t limitIn(const std::string& path) {
  uint64_t value = UINT64_MAX;
  forEachLine(path, [&](const char* line) {
    char* end = nullptr;
    const uint64_t number = std::strtoull(line, &end, 10);
    if (value == UINT64_MAX && end != line) value = number;
  });
  return value;
}

// Returns the number in the line with this name, or 0.
uint64_t statOf(const std::string& path, const std::string& name) {
  uint64_t value = 0;
  forEachLine(path, [&](const char* line) {
    if (std::strncmp(line, name.c_str(), name.size()) == 0 && line[name.size()] == ' ') {
      value = std::strtoull(line + name.size(), nullptr, 10);
    }
  });
  return value;
}

struct MemoryFiles {
  const char* limit;
  const char* usage;
  const char* unused;  // line of memory.stat
};
constexpr MemoryFiles kVersion1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
constexpr MemoryFiles kVersion2{"/memory.max", "/memory.current", "inactive_file"};

// Returns what the cgroup at this path and those above it leave. A path that does not exist here is one of another
// mount: then only the root is seen.
uint64_t freeUnder(const std::string& root, std::string path, const MemoryFiles& files) {
  uint64_t free = UINT64_MAX;
  for (;;) {
    const std::string folder = root + (path == "/" ? "" : path);
    const uint64_t limit = limitIn(folder + files.limit);
    const uint64_t usage = limitIn(folder + files.usage);
    if (limit != UINT64_MAX && usage != UINT64_MAX) {
      const uint64_t used = usage - std::min(usage, statOf(folder + "/memory.stat", files.unused));
      free = std::min(free, limit - std::min(limit, used));
    }
    const size_t slash = path.rfind('/');
    if (path.empty() || path == "/" || slash == std::string::npos) return free;
    path.resize(slash);
  }
}

std::string kilobytes(uint64_t bytes) { return std::to_string(bytes / 1000) + " kB"; }

}  // namespace

Space spaceOf(int fd) {
  struct statvfs info;
  if (::fstatvfs(fd, &info) != 0) return {};
  return {uint64_t{info.f_blocks} * info.f_frsize, uint64_t{info.f_bavail} * info.f_frsize};
}

bool hasSizeOfRing(const struct stat& info) {
  const auto bytes = static_cast<uint64_t>(info.st_size);
  const auto fits = [&](const RingLayout& layout) {
    const uint64_t capacity = bytes < layout.header.size ? 0 : (bytes - layout.header.size) / layout.slot.size;
    return validCapacity(capacity) && layout.fileSize(capacity) == bytes;
  };
  return S_ISREG(info.st_mode) && std::any_of(std::begin(kLayouts), std::end(kLayouts), fits);
}

uint64_t lackOf(const struct stat& info) {
  if (!hasSizeOfRing(info)) return 0;
  const auto size = static_cast<uint64_t>(info.st_size);
  const uint64_t whole = (size + kPageBytes - 1) / kPageBytes * kPageBytes;
  return whole - std::min(whole, static_cast<uint64_t>(info.st_blocks) * kBlockBytes);
}

RingSpace& RingSpace::instance() {
  // Never destroyed: other threads may still drain while the process exits.
  static RingSpace& all = *new RingSpace;
  return all;
}

uint64_t RingSpace::reserveOf(const Space& space) {
  return std::clamp(space.totalBytes / 16, kLeastReserve, kMostReserve);
}

void RingSpace::noteLacks(std::map<dev_t, uint64_t> lackByDevice) {
  const MutexLock lock(mutex_);
  lackByDevice_ = std::move(lackByDevice);
}

bool RingSpace::mayTake(int fd, uint64_t bytes, std::string& reason) const {
  if (bytes == 0) return true;
  struct stat info;
  const Space space = spaceOf(fd);
  if (space.totalBytes == 0 || ::fstat(fd, &info) != 0) return true;
  const MutexLock lock(mutex_);
  const auto lack = lackByDevice_.find(info.st_dev);
  const uint64_t lacked = lack == lackByDevice_.end() ? 0 : lack->second;
  const uint64_t reserve = reserveOf(space);
  if (space.freeBytes >= bytes + lacked + reserve) return true;
  reason = "the file system has " + kilobytes(space.freeBytes) + " free, of which agents may need " +
           kilobytes(lacked + reserve) + ": a state file could end an agent";
  return false;
}

uint64_t freeMemory(const std::string& root) {
  const std::string cgroups = root + "/sys/fs/cgroup";
  const uint64_t available = statOf(root + "/proc/meminfo", "MemAvailable:");
  uint64_t free = available == 0 ? UINT64_MAX : available * 1024;
  // Lines such as `0::/a/b` (version 2) and `4:cpu,memory:/a/b` (version 1).
  forEachLine(root + "/proc/self/cgroup", [&](const std::string& line) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) return;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) free = std::min(free, freeUnder(cgroups, path, kVersion2));
    if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      free = std::min(free, freeUnder(cgroups + "/memory", path, kVersion1));
    }
  });
  return free;
}

}  // namespace nixl_otel
