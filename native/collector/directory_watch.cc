#include "collector/directory_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace nixl_otel {
namespace {

constexpr uint32_t kChanges = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
// A user may have some thousand watches in all of their processes.
constexpr size_t kMostWatches = 64;

// True if this kernel makes all changes of the file system, and therefore reports them.
bool isLocal(const std::string& path) {
  struct statfs info;
  if (::statfs(path.c_str(), &info) != 0) return false;
  switch (static_cast<uint32_t>(info.f_type)) {
    case 0x01021994:  // tmpfs
    case 0x858458F6:  // ramfs
    case 0xEF53:      // ext4
    case 0x58465342:  // XFS
    case 0x9123683E:  // Btrfs
    case 0x794C7630:  // overlayfs
      return true;
    default:
      return false;
  }
}

}  // namespace

bool DirectoryWatch::watch(const std::set<std::string>& directories) {
  if (takeEvents()) removeAll();
  if (directories == watched_ && isSameAsBefore()) return !watched_.empty();
  removeAll();
  if (directories.empty() || directories == unwatchable_) return false;
  watched_ = directories;
  const bool isWatched = directories.size() <= kMostWatches && open() &&
                         std::all_of(directories.begin(), directories.end(),
                                     [this](const std::string& directory) { return add(directory); });
  if (!isWatched) {
    removeAll();
    unwatchable_ = directories;
  }
  return false;
}

// Adds the watches again, which returns their numbers: another one for a path that leads to another directory now. Most
// such changes have no event: of a link, of a mount, of a directory above, and of one that a process still has open.
bool DirectoryWatch::isSameAsBefore() {
  const size_t before = watches_.size();
  const auto isAdded = [this](const std::string& directory) { return add(directory); };
  return std::all_of(watched_.begin(), watched_.end(), isAdded) && watches_.size() == before;
}

bool DirectoryWatch::open() {
  if (events_.valid()) return true;
  events_ = FileDescriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  wakeUps_ = FileDescriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (events_.valid() && wakeUps_.valid()) return true;
  events_.reset();
  wakeUps_.reset();
  return false;
}

bool DirectoryWatch::add(const std::string& directory) {
  if (!isLocal(directory)) return false;
  const int watch = ::inotify_add_watch(events_.get(), directory.c_str(), kChanges | IN_ONLYDIR);
  if (watch >= 0) watches_.insert(watch);
  return watch >= 0;
}

void DirectoryWatch::removeAll() {
  for (const int watch : watches_) ::inotify_rm_watch(events_.get(), watch);
  watches_.clear();
  watched_.clear();
  while (takeEvents());  // those until now, and the ends of the watches
}

// Takes some events out of the queue. True if there were any.
bool DirectoryWatch::takeEvents() {
  alignas(inotify_event) char buffer[4096];
  return events_.valid() && ::read(events_.get(), buffer, sizeof buffer) > 0;
}

void DirectoryWatch::wait(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  pollfd ready[] = {{events_.get(), POLLIN, 0}, {wakeUps_.get(), POLLIN, 0}};
  ::poll(ready, 2, static_cast<int>(std::clamp<decltype(left)>(left, 0, INT32_MAX)));
  eventfd_t count;
  ::eventfd_read(wakeUps_.get(), &count);
}

void DirectoryWatch::wake() {
  if (wakeUps_.valid()) ::eventfd_write(wakeUps_.get(), 1);
}

void DirectoryWatch::close() {
  removeAll();
  unwatchable_.clear();
  events_.reset();
  wakeUps_.reset();
}

}  // namespace nixl_otel
