// The folder beside the rings of a directory, in which the state files of their agents are: `.nixl-otel`, of the
// effective user, with mode 0700. It is held open: a state file is opened relative to it, so that nobody can lead a
// path elsewhere.
//
// Thread safety: any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "posix/posix.h"

namespace nixl_otel {

// Reasons for which a state file cannot be had now.
inline constexpr char kStateIsLocked[] = "another process holds the lock of its state file";
inline constexpr char kRingIsElsewhere[] = "its path leads to another file or directory by now";

// A directory of rings, held open for one look: its path may go over links, and lead to another directory right after.
class RingDirectory {
 public:
  explicit RingDirectory(const std::string& path);
  // -1: there is none that can be opened, and `problem()` is its errno.
  int fd() const { return fd_.get(); }
  int problem() const { return problem_; }
  // An invalid one if there is none.
  FileId id() const { return fileOf(fd()).value_or(FileId{}); }

 private:
  const FileDescriptor fd_;
  const int problem_;
};

class StateFolder {
 public:
  // Space that the files of one folder may take. Agents beyond it have no state.
  static constexpr uint64_t kMostBytes = uint64_t{16} << 20;

  // Returns the folder of this directory, or nullptr. Without `reason` there is none yet. All agents of a directory
  // share one object.
  static std::shared_ptr<StateFolder> find(const RingDirectory& rings, std::string& reason) {
    return open(rings, false, reason);
  }
  // As find(), and makes the folder if there is none. Then nullptr has always a reason.
  static std::shared_ptr<StateFolder> make(const RingDirectory& rings, std::string& reason) {
    return open(rings, true, reason);
  }

  // Opens a file of this name. Absent: an invalid descriptor without a reason. `fresh`: it must not exist, and is made.
  // The file is a regular one of the effective user with mode 0600 and one name, and this process has locked it.
  FileDescriptor openLocked(const std::string& name, bool fresh, std::string& reason) const;
  // Opens a file of this name for reading, without a lock. Invalid if this user has none.
  FileDescriptor openRead(const std::string& name) const;
  // Removes the name of a file that this process has locked, if it is still the name of this file.
  void remove(const std::string& name, int fd) const;
  // Keeps a locked file under the name `.nixl-otel`, which no agent may have: of all files set aside one is kept.
  void setAside(const std::string& name, int fd) const;

  std::vector<std::string> names() const;
  // Returns the sizes of all files.
  uint64_t usedBytes() const;

  // Takes a part of the folder's space. False and `reason` if it has no more. Files that shrink or go give theirs back.
  bool take(uint64_t bytes, std::string& reason);

 private:
  explicit StateFolder(FileDescriptor fd) : fd_(std::move(fd)) {}
  static std::shared_ptr<StateFolder> open(const RingDirectory& rings, bool make, std::string& reason);

  const FileDescriptor fd_;
  std::optional<uint64_t> used_;  // by all files, at most
};

// Removes the state files of rings that are gone from this directory: an operator or an agent removed them while no
// consumer ran. Leaves files that another process has locked, and those of rings that are not in `gone`, which the last
// look found: an agent may be about to make its ring anew. Adds these to `newlyGone`.
void removeOrphanedState(const std::string& directory, const std::set<std::string>& gone,
                         std::set<std::string>& newlyGone);

}  // namespace nixl_otel
