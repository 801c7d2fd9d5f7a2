#include "posix/posix.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace nixl_otel {

double wallClockMs() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return toMs(now);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void FileDescriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::optional<FileId> fileAt(const std::string& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return std::nullopt;
  return FileId{info.st_dev, info.st_ino};
}

FileDescriptor lockDirectory(const std::string& path) {
  FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid() || ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0) return directory;
  const int problem = errno;
  directory.reset();
  errno = problem;
  return directory;
}

int sizeProblem(uint64_t bytes) {
  rlimit limit;
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur ? EFBIG : 0;
}

std::string toUtf8(const std::string& bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const size_t length = lead < 0x80                   ? 1
                          : lead >= 0xC2 && lead < 0xE0 ? 2
                          : lead >= 0xE0 && lead < 0xF0 ? 3
                          : lead >= 0xF0 && lead < 0xF5 ? 4
                                                        : 0;
    bool good = length != 0 && i + length <= bytes.size();
    for (size_t k = 1; good && k < length; ++k) good = (static_cast<unsigned char>(bytes[i + k]) & 0xC0) == 0x80;
    if (good && length == 3) {
      const auto next = static_cast<unsigned char>(bytes[i + 1]);
      good = !(lead == 0xE0 && next < 0xA0) && !(lead == 0xED && next >= 0xA0);  // overlong; surrogates
    }
    if (good && length == 4) {
      const auto next = static_cast<unsigned char>(bytes[i + 1]);
      good = !(lead == 0xF0 && next < 0x90) && !(lead == 0xF4 && next >= 0x90);  // overlong; above U+10FFFF
    }
    if (good) {
      out.append(bytes, i, length);
      i += length;
    } else {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02X", lead);
      out += escaped;
      ++i;
    }
  }
  return out;
}

}  // namespace nixl_otel
