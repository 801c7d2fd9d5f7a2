// Waits for the first ring of empty directories without waking up to look for it: inotify. The collector does not
// depend on it. A directory that cannot be watched is polled (discovery.h), and the path of a watched one is looked at
// twice per second: inotify reports no mount, no changed link, and no other directory above a watched one.

#pragma once

#include <atomic>
#include <chrono>
#include <set>
#include <string>

#include "collector/collector_locks.h"
#include "posix/posix.h"

namespace nixl_otel {

class DirectoryWatch {
 public:
  // Longest pause between two looks at watched directories. A test makes it endless, to find a change that is missed.
  static inline constinit std::atomic<std::chrono::milliseconds> longestPause{std::chrono::milliseconds(500)};

  // Watches these directories and no others; at first use it opens two descriptors. True if all of them have been
  // watched since the previous call, and no name was added to any of them: what was read between the two calls is up to
  // date. False if one of them cannot be watched: the file system may be changed by other machines, or a limit of the
  // user is reached.
  bool watch(const std::set<std::string>& directories) REQUIRES(collectorThread, collectorMutex);
  // Waits for an added name, wake() or the time. Returns at once if a name was added, or wake() called, since the last
  // wait.
  void wait(Clock::time_point end) REQUIRES(collectorThread) EXCLUDES(collectorMutex);
  // Ends the wait of the collector's thread, from any thread.
  void wake() REQUIRES(collectorMutex);
  // Closes the descriptors. Takes some milliseconds: the kernel waits for readers of the watches.
  void close() REQUIRES(collectorThread, collectorMutex);

 private:
  bool isSameAsBefore() REQUIRES(collectorThread, collectorMutex);
  bool open();
  bool add(const std::string& directory);
  bool takeEvents();
  void removeAll();

  // A method changes these members with both capabilities held, and reads them with one of them.
  FileDescriptor events_;
  FileDescriptor wakeUps_;
  std::set<std::string> watched_;
  std::set<int> watches_;
  std::set<std::string> unwatchable_;  // the directories of the last call that failed
};

}  // namespace nixl_otel
