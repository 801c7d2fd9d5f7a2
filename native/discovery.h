// Files of a directory tree, cheap enough to poll every 50 ms: a directory is read again only if its mtime shows that a
// name was added or removed. Polling instead of inotify has no watch limits and works on every file system.

#pragma once

#include <time.h>

#include <map>
#include <string>
#include <vector>

#include "ring_file.h"

namespace nixl_otel {

struct FoundFile {
  std::string path;
  std::string agent;    // relative to the directory
  const char* problem;  // why it cannot be a ring, or nullptr
};

class DirectoryTree {
 public:
  // Limits: a user with write access to the directory must not exhaust this process's memory or CPU time.
  static constexpr size_t kMaxEntries = 65'536;  // files and folders in all
  static constexpr size_t kMaxFolders = 1'024;
  static constexpr int kMaxDepth = 3;  // folders below the directory: NIXL joins an agent's name to it as a path

  // `pattern`: only names in the directory itself that match it (fnmatch), or "" for everything to kMaxDepth.
  DirectoryTree(std::string directory, std::string pattern);

  // Reads directories that changed. True if files() changed. An absent directory has no files.
  bool refresh();
  const std::vector<FoundFile>& files() const { return files_; }
  // True if a file at this path is, or would be, one of files(). Sets `agent` to its name here.
  bool covers(const std::string& path, std::string& agent) const;
  const std::string& directory() const { return directory_; }
  // State of the directory itself: kReady, kAbsent, kCorrupt (no directory) or kDenied, and the reason.
  RingState state() const { return state_; }
  const std::string& reason() const { return reason_; }
  // Reasons by path: folders that cannot be read, or only in part.
  const std::map<std::string, std::string>& problems() const { return problems_; }
  // True if any user of the machine may add files to it or to one of its folders.
  bool writableByAll() const { return writableByAll_; }

 private:
  struct Folder {
    timespec changed{};
    bool settled = false;  // its mtime was old enough when it was read to show the next change
    bool seen = false;
    bool cut = false;  // read in part, see kMaxEntries
    size_t entries() const { return files.size() + folders.size(); }
    std::vector<FoundFile> files;
    std::vector<std::string> folders;
  };

  bool visit(const std::string& path, const std::string& prefix, int depth);
  void fail(int error);
  bool read(Folder& folder, const std::string& path, const std::string& prefix, int depth);

  std::string directory_;
  std::string pattern_;
  RingState state_ = RingState::kReady;
  std::string reason_;
  std::map<std::string, std::string> problems_;
  bool writableByAll_ = false;
  std::map<std::string, Folder> folders_;
  size_t entries_ = 0;  // of all folders
  std::vector<FoundFile> files_;
};

}  // namespace nixl_otel
