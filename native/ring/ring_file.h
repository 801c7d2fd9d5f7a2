// A ring's file: checks it without writing, then opens it for draining or observing.

#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "posix/posix.h"
#include "posix/sigbus_guard.h"
#include "ring/ring_layout.h"
#include "ring/space.h"

namespace nixl_otel {

// kDeleted: of an open ring that has no name any more while its agent still writes it.
enum class RingState : uint8_t { kAbsent, kInitializing, kReady, kIncompatible, kCorrupt, kBusy, kDenied, kDeleted };

inline const char* toString(RingState state) {
  constexpr const char* kNames[] = {"absent",  "initializing", "ready",  "incompatible",
                                    "corrupt", "busy",         "denied", "deleted"};
  return kNames[static_cast<size_t>(state)];
}

// What shows that an agent restarted in a file, apart from its header: ftruncate changes the ctime.
struct FileChange {
  timespec changed{};  // ctime
  uint64_t lack = 0;   // bytes that a store may yet allocate

  FileChange() = default;
  explicit FileChange(const struct stat& info) : changed(info.st_ctim), lack(lackOf(info)) {}
  // True if the ctime changed, unless a consumer allocated all that the ring lacked, which changes it as well.
  bool hasWorkSince(const FileChange& before) const {
    const bool isSame = changed.tv_sec == before.changed.tv_sec && changed.tv_nsec == before.changed.tv_nsec;
    return !isSame && (lack != 0 || before.lack == 0);
  }
};

// A header that was read with pread. Unlike a mapping, pread cannot fault if another process truncates the file.
struct HeaderFields : HeaderValues {
  RingState state = RingState::kInitializing;
  std::string reason;                  // set unless the state is kReady
  const RingLayout* layout = nullptr;  // set if the state is kReady
  uint64_t fileSize = 0;
  FileChange change;
  bool readPosPast = false;  // the state is kCorrupt, but only because read_pos is past the capacity

  // A ring that holds no event.
  bool empty() const { return state == RingState::kReady && writePos == readPos; }
};

HeaderFields readHeader(int fd);

// True if a RingWriter lives that holds this file open, in any process or PID namespace.
bool hasWriterLock(int fd);

// Reads the header of the file at the path, if it still has this identity. Takes a few microseconds, and neither locks
// nor maps the file.
HeaderFields peekHeader(const std::string& path, const FileId& id);

// Maps the first bytes of the file at the path for reading, if it still has this identity. Keeps no descriptor.
// Otherwise the mapping is empty.
HeaderMapping mapHeader(const std::string& path, const FileId& id, size_t bytes);

// Identity of a ring's file beyond the life of a process: file systems give the inode of a removed file to the next
// one.
struct RingFileId {
  FileId file;
  timespec born{};  // birth time; 0 if the file system or the kernel has none

  bool operator==(const RingFileId& other) const {
    return file == other.file && born.tv_sec == other.born.tv_sec && born.tv_nsec == other.born.tv_nsec;
  }
};

// True while a consumer holds the lock of the file at the path, if that is still this file. Takes a few microseconds,
// and keeps no descriptor.
bool isHeld(const std::string& path, const FileId& id);

using Owners = std::optional<std::vector<uid_t>>;  // allowed users; nullopt: all

enum class RingAccess : uint8_t { kObserve, kDrain };

struct RingFile {
  RingState state = RingState::kAbsent;
  std::string reason;
  FileDescriptor fd;
  RingFileId id;
  HeaderFields header;
  HeaderMapping mapping;  // the header only; slots are read with pread

  // Checks the file first, then opens it: a file that is no ring is never written or locked, and a fifo never blocks.
  // Reports problems in `state` and `reason`. kDrain also opens a file whose header has readPosPast, with that state:
  // the consumer may be able to mend it.
  //   force   opens files also on file systems whose mappings may not be shared between processes
  //   owners  opens only files of these users
  static RingFile open(const std::string& path, RingAccess access, bool force, const Owners& owners = std::nullopt);
};

}  // namespace nixl_otel
