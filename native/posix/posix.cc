#include "posix/posix.h"

#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

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

std::optional<FileId> fileAt(const std::string& path, int directory) {
  struct stat info;
  if (::fstatat(directory, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return FileId{info.st_dev, info.st_ino};
}

std::optional<FileId> fileOf(int fd) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return std::nullopt;
  return FileId{info.st_dev, info.st_ino};
}

bool isAt(const std::string& path, int directory, int fd) {
  const auto named = fileAt(path, directory);
  return named && named == fileOf(fd);
}

size_t readAt(int fd, std::byte* out, size_t bytes, uint64_t offset) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(fd, out + done, bytes - done, static_cast<off_t>(offset + done));
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

void forEachLine(const std::string& path, const std::function<void(const char*)>& visit) {
  FILE* file = ::fopen(path.c_str(), "re");
  if (file == nullptr) return;
  char* line = nullptr;
  size_t room = 0;
  for (ssize_t got; (got = ::getline(&line, &room, file)) > 0;) {
    if (line[got - 1] == '\n') line[got - 1] = '\0';
    visit(line);
  }
  std::free(line);
  ::fclose(file);
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
