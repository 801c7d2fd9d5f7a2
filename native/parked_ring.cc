#include "parked_ring.h"

#include <sys/stat.h>

#include <utility>

namespace nixl_otel {

ParkedRing::ParkedRing(const std::string& path, const FileId& file, HeaderFields header, bool mayMap)
    : path_(path), file_(file), header_(std::move(header)) {
  const HeaderLayout& layout = header_.layout->header;
  if (mayMap) mapping_ = mapHeader(path, file, layout.size);
  if (mapping_.base() == nullptr) return;
  look_.emplace(mapping_.base(), layout,
                HeaderLook::Fields{header_.version, header_.expectedVersion, header_.writePos, header_.readPos,
                                   header_.capacity});
}

bool ParkedRing::hasNewHeader() const { return look_ && !look_->isUnchanged(); }

bool ParkedRing::hasChanged() const {
  if (!look_) {
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
