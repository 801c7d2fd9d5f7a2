// A ring's file: finding out what it is without harm, then opening it for draining or for looking on.

#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ring_layout.h"
#include "sigbus_guard.h"

namespace nixl_otel {

enum class RingState : uint8_t { kAbsent, kInitializing, kReady, kIncompatible, kCorrupt, kBusy, kDenied };

const char* toString(RingState state);

// A file descriptor that closes itself.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { reset(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

// One look at a header with pread: never a fault, whatever happens to the file.
struct HeaderFields {
  RingState state = RingState::kInitializing;
  std::string reason;                  // why it is not ready
  const RingLayout* layout = nullptr;  // set when ready
  int32_t version = 0;
  int32_t expectedVersion = 0;
  uint64_t writePos = 0;
  uint64_t readPos = 0;
  uint64_t capacity = 0;
  uint64_t fileSize = 0;
  timespec changed{};  // the file's ctime

  // A ring that holds no event.
  bool empty() const { return state == RingState::kReady && writePos == readPos; }
};

HeaderFields readHeader(int fd);

// Which file it is, whatever it is called.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;
  auto operator<=>(const FileId&) const = default;
};

// The header of a file that was a ring and is not open: a few microseconds, and nothing is locked or mapped.
HeaderFields peekHeader(const std::string& path, const FileId& id);

using Owners = std::optional<std::vector<uid_t>>;  // nullopt: anyone

enum class RingAccess : uint8_t { kObserve, kDrain };

struct RingFile {
  RingState state = RingState::kAbsent;
  std::string reason;
  FileDescriptor fd;
  FileId id;
  HeaderFields header;
  HeaderMapping mapping;  // the header only; slots are read with pread

  // Opens step by step, so that a file that is no ring is never written to, locked or waited for. Never throws.
  // `force`: also on file systems on which shared mappings of several hosts need not agree. `owners`: only files of one
  // of these users.
  static RingFile open(const std::string& path, RingAccess access, bool force, const Owners& owners = std::nullopt);
};

}  // namespace nixl_otel
