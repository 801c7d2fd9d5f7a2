#include "collector/ring_filler.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>

#include "ring/space.h"

namespace nixl_otel {
namespace {

constexpr uint32_t kTmpfs = 0x01021994;

bool isInMemory(int fd) {
  struct statfs info;
  return ::fstatfs(fd, &info) == 0 && static_cast<uint32_t>(info.f_type) == kTmpfs;
}

}  // namespace

// Returns the bytes of all rings that were filled and still have their path.
uint64_t RingFiller::filledBytes() {
  uint64_t bytes = 0;
  std::erase_if(filled_, [&](const auto& entry) {
    const auto& [path, filled] = entry;
    const bool isGone = fileAt(path) != filled.file;
    if (!isGone) bytes += filled.bytes;
    return isGone;
  });
  return bytes;
}

// True if there is nothing more to do for this incarnation.
bool RingFiller::fillOne(const std::string& path, const RingReader& ring) {
  struct stat info;
  if (::fstat(ring.fd(), &info) != 0 || !isInMemory(ring.fd())) return true;
  const uint64_t lack = lackOf(info);
  const auto size = static_cast<uint64_t>(info.st_size);
  if (lack == 0 || size > kMostRingBytes || sizeProblem(size) != 0) return true;
  const Space space = spaceOf(ring.fd());
  if (space.totalBytes != 0 && space.freeBytes < lack) return false;
  if (filledBytes() + lack > kMostBytes || freeMemory() < lack + kFreeMemory) return false;
  // KEEP_SIZE: the agent may make the file smaller at any time. Without it, this call would make it larger again.
  // Without room the kernel takes back the pages that the call allocated.
  if (::fallocate(ring.fd(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size)) != 0) {
    return errno != ENOSPC && errno != ENOMEM && errno != EINTR;
  }
  Filled& filled = filled_[path];
  filled = {ring.id(), (filled.file == ring.id() ? filled.bytes : 0) + lack};
  return true;
}

}  // namespace nixl_otel
