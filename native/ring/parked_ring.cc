#include "ring/parked_ring.h"

#include <sys/stat.h>

#include <utility>

namespace nixl_otel {

ParkedRing::ParkedRing(const std::string& path, const FileId& file, HeaderFields header, bool mayMap)
    : path_(path), file_(file), header_(std::move(header)) {
  const HeaderLayout& layout = header_.layout->header;
  if (mayMap) mapping_ = mapHeader(path, file, layout.size);
  if (mapping_.base() == nullptr) return;
  look_.emplace(mapping_.base(), layout, header_);
}

bool ParkedRing::hasNewHeader() const { return look_ && !look_->isUnchanged(); }

bool ParkedRing::hasChanged() {
  if (!look_) {
    const HeaderFields now = peekHeader(path_, file_);
    const HeaderValues& before = header_;
    return now.state != RingState::kReady || before != now || !isSameFile(now.fileSize, now.change);
  }
  struct stat info;
  return hasNewHeader() || ::lstat(path_.c_str(), &info) != 0 || file_ != FileId{info.st_dev, info.st_ino} ||
         !isSameFile(static_cast<uint64_t>(info.st_size), FileChange(info));
}

bool ParkedRing::isSameFile(uint64_t size, const FileChange& change) {
  if (size != header_.fileSize || change.hasWorkSince(header_.change)) return false;
  header_.change = change;
  return true;
}

}  // namespace nixl_otel
