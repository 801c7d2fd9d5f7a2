#include "parked_ring.h"

#include <sys/stat.h>

#include <atomic>
#include <utility>

namespace nixl_otel {
namespace {

// relaxed: a look at values whose change leads to a new opening of the file, which orders everything else.
template <typename T>
T loadMapped(const HeaderMapping& mapping, uint32_t offset) {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(mapping.base() + offset)).load(std::memory_order_relaxed);
}

}  // namespace

ParkedRing::ParkedRing(const std::string& path, const FileId& file, HeaderFields header, bool mayMap)
    : path_(path), file_(file), header_(std::move(header)) {
  if (mayMap) mapping_ = mapHeader(path, file, header_.layout->header.size);
}

bool ParkedRing::hasNewHeader() const {
  if (mapping_.base() == nullptr) return false;
  const MappingClaim claim(mapping_);
  const HeaderLayout& at = header_.layout->header;
  const bool isSame = loadMapped<uint64_t>(mapping_, at.writePos) == header_.writePos &&
                      loadMapped<uint64_t>(mapping_, at.readPos) == header_.readPos &&
                      loadMapped<int32_t>(mapping_, at.version) == header_.version &&
                      loadMapped<int32_t>(mapping_, at.expectedVersion) == header_.expectedVersion &&
                      loadMapped<uint64_t>(mapping_, at.capacity) == header_.capacity;
  return !isSame || claim.faulted();
}

bool ParkedRing::hasChanged() const {
  if (mapping_.base() == nullptr) {
    const HeaderFields now = peekHeader(path_, file_);
    return now.state != RingState::kReady || now.version != header_.version ||
           now.expectedVersion != header_.expectedVersion || now.writePos != header_.writePos ||
           now.readPos != header_.readPos || now.capacity != header_.capacity || !isSameFile(now.fileSize, now.changed);
  }
  struct stat info;
  return hasNewHeader() || ::lstat(path_.c_str(), &info) != 0 || file_ != FileId{info.st_dev, info.st_ino} ||
         !isSameFile(static_cast<uint64_t>(info.st_size), info.st_ctim);
}

bool ParkedRing::isSameFile(uint64_t size, const timespec& changed) const {
  return size == header_.fileSize && changed.tv_sec == header_.changed.tv_sec &&
         changed.tv_nsec == header_.changed.tv_nsec;
}

}  // namespace nixl_otel
