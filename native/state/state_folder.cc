#include "state/state_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "ring/ring_layout.h"
#include "sync/mutex.h"

namespace nixl_otel {
namespace {

// The folders that are in use, by their identity: a folder that was replaced is another one. Never destroyed: other
// threads may still drain while the process exits.
struct Folders {
  Mutex mutex;
  std::map<FileId, std::weak_ptr<StateFolder>> byId GUARDED_BY(mutex);
};

Folders& folders() {
  static Folders& all = *new Folders;
  return all;
}

std::string withErrno(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

std::string octal(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode & 07777u);
  return text;
}

// Returns why a file or folder is not one that only this user can change, or "".
std::string notOurs(const struct stat& info, mode_t mode) {
  if (info.st_uid != ::geteuid()) {
    return "its owner is user " + std::to_string(info.st_uid) + ", not " + std::to_string(::geteuid());
  }
  // A folder in a directory with S_ISGID begins with it, and its maker may be killed before it takes the bit away.
  if ((info.st_mode & 07777 & ~S_ISGID) != mode) return "its mode is " + octal(info.st_mode) + ", not " + octal(mode);
  return "";
}

}  // namespace

RingDirectory::RingDirectory(const std::string& path)
    : fd_(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), problem_(fd_.valid() ? 0 : errno) {}

std::shared_ptr<StateFolder> StateFolder::open(const RingDirectory& rings, bool make, std::string& reason) {
  reason.clear();
  if (rings.fd() < 0) {
    errno = rings.problem();
    if (make || errno != ENOENT) reason = withErrno("the directory of the ring cannot be opened");
    return nullptr;
  }
  const std::string name = std::string("its folder ") + kStateFolderName;
  const bool made = make && ::mkdirat(rings.fd(), kStateFolderName, 0700) == 0;
  if (make && !made && errno != EEXIST) {
    reason = withErrno((name + " cannot be made").c_str());
    return nullptr;
  }
  FileDescriptor fd(::openat(rings.fd(), kStateFolderName, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOTDIR || errno == ELOOP) {
      reason = name + " is no folder";
    } else if (make || errno != ENOENT) {
      reason = withErrno((name + " cannot be opened").c_str());
    }
    return nullptr;
  }
  // The umask may have taken bits away.
  if (made) ::fchmod(fd.get(), 0700);
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) {
    reason = withErrno((name + " cannot be examined").c_str());
    return nullptr;
  }
  if (const std::string problem = notOurs(info, 0700); !problem.empty()) {
    reason = name + " is refused: " + problem;
    return nullptr;
  }
  Folders& all = folders();
  const MutexLock lock(all.mutex);
  std::erase_if(all.byId, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<StateFolder>& known = all.byId[{info.st_dev, info.st_ino}];
  std::shared_ptr<StateFolder> folder = known.lock();
  if (folder == nullptr) {
    folder.reset(new StateFolder(std::move(fd)));
    known = folder;
  }
  return folder;
}

FileDescriptor StateFolder::openLocked(const std::string& name, bool fresh, std::string& reason) const {
  reason.clear();
  const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  // A second attempt, if the process that had the file removed it meanwhile.
  for (int attempt = 0; attempt < 3; ++attempt) {
    FileDescriptor fd(::openat(fd_.get(), name.c_str(), fresh ? flags | O_CREAT | O_EXCL : flags, 0600));
    if (!fd.valid()) {
      if (errno == ELOOP) {
        reason = "its state file is a symbolic link";
      } else if (fresh || errno != ENOENT) {
        reason = withErrno("its state file cannot be opened");
      }
      return {};
    }
    if (fresh) ::fchmod(fd.get(), 0600);
    struct stat info;
    if (::fstat(fd.get(), &info) != 0) {
      reason = withErrno("its state file cannot be examined");
      return {};
    }
    std::string problem = S_ISREG(info.st_mode) ? notOurs(info, 0600) : "it is no regular file";
    if (problem.empty() && info.st_nlink > 1) problem = "it has " + std::to_string(info.st_nlink) + " names";
    if (!problem.empty()) {
      reason = "its state file is refused: " + problem;
      return {};
    }
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      reason = errno == EWOULDBLOCK ? kStateIsLocked : withErrno("its state file cannot be locked");
      return {};
    }
    if (isAt(name, fd_.get(), fd.get())) return fd;
  }
  reason = "its state file is replaced again and again";
  return {};
}

FileDescriptor StateFolder::openRead(const std::string& name) const {
  FileDescriptor fd(::openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info;
  const bool good = fd.valid() && ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode) && notOurs(info, 0600).empty();
  return good ? std::move(fd) : FileDescriptor();
}

void StateFolder::remove(const std::string& name, int fd) const {
  if (isAt(name, fd_.get(), fd)) ::unlinkat(fd_.get(), name.c_str(), 0);
}

void StateFolder::setAside(const std::string& name, int fd) const {
  if (isAt(name, fd_.get(), fd)) ::renameat(fd_.get(), name.c_str(), fd_.get(), kStateFolderName);
}

std::vector<std::string> StateFolder::names() const {
  std::vector<std::string> all;
  const int fd = ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const directory = fd < 0 ? nullptr : ::fdopendir(fd);
  if (directory == nullptr) {
    if (fd >= 0) ::close(fd);
    return all;
  }
  while (const dirent* entry = ::readdir(directory)) all.emplace_back(entry->d_name);
  ::closedir(directory);
  return all;
}

uint64_t StateFolder::usedBytes() const {
  uint64_t bytes = 0;
  for (const std::string& name : names()) {
    struct stat info;
    if (::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
    bytes += static_cast<uint64_t>(info.st_size);
  }
  return bytes;
}

bool StateFolder::take(uint64_t bytes, std::string& reason) {
  const MutexLock lock(folders().mutex);
  // Counts again before it refuses: files may have been removed.
  if (!used_ || *used_ + bytes > kMostBytes) used_ = usedBytes();
  if (*used_ + bytes > kMostBytes) {
    reason = "the state files of its directory may take " + std::to_string(kMostBytes) + " bytes in all";
    return false;
  }
  *used_ += bytes;
  return true;
}

void removeOrphanedState(const std::string& directory, const std::set<std::string>& gone,
                         std::set<std::string>& newlyGone) {
  std::string reason;
  const RingDirectory rings(directory);
  const auto folder = StateFolder::find(rings, reason);
  if (folder == nullptr) return;
  for (const std::string& name : folder->names()) {
    const std::string ring = directory + "/" + name;
    if (fileAt(name, rings.fd()) || errno != ENOENT) continue;
    if (!gone.contains(ring)) {
      newlyGone.insert(ring);
      continue;
    }
    const FileDescriptor fd = folder->openLocked(name, false, reason);
    if (fd.valid()) folder->remove(name, fd.get());
  }
}

}  // namespace nixl_otel
