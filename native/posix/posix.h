// Wrappers of the C library: clocks, file descriptors, file identities, names as UTF-8.

#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <time.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace nixl_otel {

using Clock = std::chrono::steady_clock;

inline double toMs(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }
inline double toMs(const timespec& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}
// The inverse of toMs(). Rounds, because a double can be a little less than the nanoseconds from which it was computed.
inline Clock::duration fromMs(double ms) {
  return std::chrono::round<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
}

// Milliseconds since the Unix epoch.
double wallClockMs();

// A file descriptor that closes itself.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { reset(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// Identity of a file, equal under all of its names.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;
  auto operator<=>(const FileId&) const = default;
};

// Returns the identity of the file at a path, or nullopt with errno if there is none. Follows no symbolic link.
// `directory`: where a relative path begins.
std::optional<FileId> fileAt(const std::string& path, int directory = AT_FDCWD);
// Returns the identity of an open file.
std::optional<FileId> fileOf(int fd);
// True if the file at the path is this open one.
bool isAt(const std::string& path, int directory, int fd);

// Reads from an offset on, until `bytes` are read or the file ends. Returns the number of bytes that were read.
size_t readAt(int fd, std::byte* out, size_t bytes, uint64_t offset);

// Calls visit(line) for each line of a file, without its end; for none if it cannot be read. Streams of C++ need
// functions that the C library of the binary for musl lacks.
void forEachLine(const std::string& path, const std::function<void(const char*)>& visit);

// Opens and locks a directory. Returns no descriptor if another process has locked it, or it cannot be opened: errno is
// then EWOULDBLOCK, or the reason.
FileDescriptor lockDirectory(const std::string& path);

// Returns 0, or EFBIG if the process may not make a file of this size. The system call would send a signal that ends
// it.
int sizeProblem(uint64_t bytes);

// Converts a file's name, which may have any bytes, to UTF-8. Bytes that are not valid UTF-8 become \xNN, so that
// different names remain different.
std::string toUtf8(const std::string& bytes);

}  // namespace nixl_otel
