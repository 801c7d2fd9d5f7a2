#include "ring/ring_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ring/drain_protocol.h"
#include "ring/ring_event.h"

namespace nixl_otel {
namespace {

RingFile failed(RingState state, std::string reason) {
  RingFile file;
  file.state = state;
  file.reason = std::move(reason);
  return file;
}

RingFile failedOpen(const char* what) {
  const int problem = errno;
  if (problem == ENOENT || problem == ENOTDIR) return failed(RingState::kAbsent, "no such file");
  if (problem == EMFILE || problem == ENFILE || problem == ENOMEM) {
    return failed(RingState::kBusy, std::string(what) + ": " + std::strerror(problem));
  }
  return failed(RingState::kDenied, std::string(what) + ": " + std::strerror(problem));
}

const char* kindOf(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a fifo";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// A file with a larger number in the version field is no ring.
constexpr int32_t kLastPlausibleVersion = 999;

// Returns the name of a file system on which the mappings of writer and reader may not share memory, or nullptr.
const char* incoherentFileSystem(int fd) {
  constexpr std::pair<uint32_t, const char*> kIncoherent[] = {{0x6969, "NFS"},
                                                              {0x01021997, "9p"},
                                                              {0x65735546, "FUSE (or virtiofs)"},
                                                              {0xFE534D42, "SMB"},
                                                              {0xFF534D42, "SMB"}};
  struct statfs info;
  if (::fstatfs(fd, &info) != 0) return nullptr;
  for (const auto& [type, name] : kIncoherent) {
    if (type == static_cast<uint32_t>(info.f_type)) return name;
  }
  return nullptr;
}

// Requires: `info` is of this file. (The system call has no wrapper in glibc 2.17.)
RingFileId fileId(int fd, const struct stat& info) {
  RingFileId id{{info.st_dev, info.st_ino}, {}};
  struct statx more;
  if (::syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 && (more.stx_mask & STATX_BTIME) != 0) {
    id.born = {static_cast<time_t>(more.stx_btime.tv_sec), static_cast<long>(more.stx_btime.tv_nsec)};
  }
  return id;
}

// Opens the file at the path for one look, if it still has this identity. The name may belong to any file at the next
// moment: the flags keep open() from following a link and from waiting at a fifo.
FileDescriptor openToLook(const std::string& path, const FileId& id) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || id != FileId{info.st_dev, info.st_ino}) return {};
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

HeaderFields withState(HeaderFields fields, RingState state, std::string reason) {
  fields.state = state;
  fields.reason = std::move(reason);
  return fields;
}

}  // namespace

HeaderFields readHeader(int fd) {
  HeaderFields f;
  struct stat info;
  if (::fstat(fd, &info) != 0) return withState(f, RingState::kDenied, std::strerror(errno));
  f.fileSize = static_cast<uint64_t>(info.st_size);
  f.change = FileChange(info);
  if (f.fileSize == 0) return withState(f, RingState::kInitializing, "the file is empty");

  alignas(8) std::byte bytes[kMaxHeaderBytes] = {};
  const ssize_t got = ::pread(fd, bytes, sizeof bytes, 0);
  if (got < 0) return withState(f, RingState::kDenied, std::string("cannot be read: ") + std::strerror(errno));
  if (got < static_cast<ssize_t>(kHeaderA.size)) {
    return withState(f, RingState::kCorrupt, "too short for a ring: " + std::to_string(got) + " bytes");
  }
  f.version = loadField<int32_t>(bytes, kVersionOffset);
  f.expectedVersion = loadField<int32_t>(bytes, kVersionOffset + 4);
  if (f.version == 0) return withState(f, RingState::kInitializing, "the header has no version yet");
  if (f.version < 0 || f.version > kLastPlausibleVersion) {
    return withState(f, RingState::kCorrupt, "not a NIXL ring: the wire version field is " + std::to_string(f.version));
  }
  if (!knownVersion(f.version)) {
    return withState(f, RingState::kIncompatible,
                     "wire version " + std::to_string(f.version) + " is not known (" + knownVersions() + ")");
  }

  const HeaderLayout& h = releasedLayout(f.version)->header;
  f.capacity = loadField<uint64_t>(bytes, h.capacity);
  const auto mask = loadField<uint64_t>(bytes, h.mask);
  if (f.version == kDraftVersion && (!validCapacity(f.capacity) || mask != f.capacity - 1)) {
    return withState(
        f, RingState::kIncompatible,
        "wire version " + std::to_string(f.version) + " has another header than its draft, the only known one");
  }
  if (!validCapacity(f.capacity)) {
    return withState(f, RingState::kCorrupt,
                     "capacity " + std::to_string(f.capacity) + " is not a power of two from 2 to 16777216");
  }
  f.layout = findLayout(f.version, f.capacity, f.fileSize);
  if (f.layout == nullptr) {
    return withState(f, RingState::kCorrupt,
                     "the file has " + std::to_string(f.fileSize) + " bytes, which does not match wire version " +
                         std::to_string(f.version) + " and capacity " + std::to_string(f.capacity));
  }
  if (mask != f.capacity - 1) {
    return withState(f, RingState::kCorrupt,
                     "mask " + std::to_string(mask) + " does not fit capacity " + std::to_string(f.capacity));
  }
  f.writePos = loadField<uint64_t>(bytes, h.writePos);
  f.readPos = loadField<uint64_t>(bytes, h.readPos);
  if (f.writePos > mask || f.readPos > mask) {
    f.readPosPast = f.writePos <= mask && (f.expectedVersion == f.version || isMark(f.expectedVersion));
    return withState(f, RingState::kCorrupt,
                     "position " + std::to_string(f.writePos > mask ? f.writePos : f.readPos) + " is past capacity " +
                         std::to_string(f.capacity));
  }
  if (f.expectedVersion != f.version && !isMark(f.expectedVersion)) {
    return withState(
        f, RingState::kInitializing,
        "version is " + std::to_string(f.version) + " but expected_version is " + std::to_string(f.expectedVersion));
  }
  f.state = RingState::kReady;
  return f;
}

bool hasWriterLock(int fd) {
  constexpr int kGetLock = 36;  // F_OFD_GETLK, which older headers lack
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd, kGetLock, &lock) == 0 && lock.l_type != F_UNLCK;
}

HeaderFields peekHeader(const std::string& path, const FileId& id) {
  const FileDescriptor fd = openToLook(path, id);
  return fd.valid() ? readHeader(fd.get()) : withState({}, RingState::kAbsent, "another file, none, or not readable");
}

HeaderMapping mapHeader(const std::string& path, const FileId& id, size_t bytes) {
  HeaderMapping mapping;
  const FileDescriptor fd = openToLook(path, id);
  if (fileOf(fd.get()) == id) mapping.map(fd.get(), bytes, false);
  return mapping;
}

bool isHeld(const std::string& path, const FileId& id) {
  const FileDescriptor fd = openToLook(path, id);
  // Shared: two processes that look at the same time do not see each other as the consumer.
  return fd.valid() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

RingFile RingFile::open(const std::string& path, RingAccess access, bool force, const Owners& owners) {
  if (inStateFolder(path)) {
    return failed(RingState::kCorrupt, std::string("no ring: consumers keep their state in ") + kStateFolderName);
  }
  // O_PATH does not open the file itself: a fifo does not block, and a device is not activated. The later open() calls
  // use this descriptor. Therefore they open this file, even if another process replaces the name.
  const FileDescriptor handle(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!handle.valid()) return failedOpen("cannot be opened");
  struct stat info;
  if (::fstat(handle.get(), &info) != 0) return failedOpen("cannot be examined");
  if (!S_ISREG(info.st_mode)) {
    return failed(RingState::kCorrupt, std::string("not a regular file but ") + kindOf(info.st_mode));
  }
  if (owners && std::find(owners->begin(), owners->end(), info.st_uid) == owners->end()) {
    return failed(RingState::kDenied, "its owner, user " + std::to_string(info.st_uid) + ", is not among the owners");
  }
  if (const char* name = incoherentFileSystem(handle.get()); name != nullptr && !force) {
    return failed(RingState::kIncompatible,
                  std::string("on ") + name + ", where mapped memory may not be shared: use a local directory");
  }

  const std::string byHandle = "/proc/self/fd/" + std::to_string(handle.get());
  FileDescriptor observed(::open(byHandle.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!observed.valid()) return failedOpen("cannot be read");
  HeaderFields header = readHeader(observed.get());
  const auto usable = [&] {
    return header.state == RingState::kReady || (access == RingAccess::kDrain && header.readPosPast);
  };
  if (!usable()) return failed(header.state, header.reason);

  RingFile file;
  file.id = fileId(observed.get(), info);
  if (access == RingAccess::kObserve) {
    file.fd = std::move(observed);
  } else {
    file.fd = FileDescriptor(::open(byHandle.c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file.fd.valid()) return failedOpen("cannot be opened for writing, which draining needs");
    if (::flock(file.fd.get(), LOCK_EX | LOCK_NB) != 0) {
      return failed(RingState::kBusy, "another consumer holds its lock");
    }
    // Reads the header again: another consumer may have drained the ring before this process got the lock.
    header = readHeader(file.fd.get());
    if (!usable()) return failed(header.state, header.reason);
  }
  const bool writable = access == RingAccess::kDrain;
  if (const int problem = file.mapping.map(file.fd.get(), header.layout->header.size, writable); problem != 0) {
    return failed(RingState::kDenied, std::string("cannot be mapped: ") + std::strerror(problem));
  }
  file.state = header.state;
  file.reason = header.reason;
  file.header = std::move(header);
  return file;
}

}  // namespace nixl_otel
