// Files of a directory tree. A poll every 50 ms is cheap: a directory is read again only if its mtime shows that a name
// was added or removed. Unlike inotify, polling has no limit of watches and works on every file system. Therefore
// directory_watch.h only makes polls of empty directories rarer.

#pragma once

#include <time.h>

#include <map>
#include <string>
#include <vector>

#include "ring/ring_file.h"

namespace nixl_otel {

struct FoundFile {
  std::string path;
  std::string agent;    // path relative to the directory
  const char* problem;  // kind of a file that cannot be a ring, or nullptr
};

class DirectoryTree {
 public:
  // Limits, so that a user who may write to the directory cannot exhaust this process's memory or CPU time.
  static constexpr size_t kMaxEntries = 65'536;  // files and folders in all
  static constexpr size_t kMaxFolders = 1'024;
  static constexpr int kMaxDepth = 3;  // of folders below the directory: an agent's name may contain slashes

  // `pattern` selects names in the directory itself (fnmatch). "" selects all files down to kMaxDepth.
  DirectoryTree(std::string directory, std::string pattern);

  // Reads the directories that changed. True if files() may have changed. An absent directory has no files.
  bool refresh();
  const std::vector<FoundFile>& files() const { return files_; }
  // True if a file at this path is or would be one of files(). Sets `agent` to its path relative to the directory.
  bool covers(const std::string& path, std::string& agent) const;
  const std::string& directory() const { return directory_; }
  // State of the directory itself: kReady, kAbsent, kCorrupt (not a directory) or kDenied, and the reason.
  RingState state() const { return state_; }
  const std::string& reason() const { return reason_; }
  // Folders that cannot be read completely: the reason by the path.
  const std::map<std::string, std::string>& problems() const { return problems_; }
  // True if every user of the machine may add files to the directory or to one of its folders.
  bool writableByAll() const { return writableByAll_; }

  struct Folder {
    timespec changed{};
    bool settled = false;  // the next change will change the mtime: at the read it was old enough
    bool seen = false;
    bool cut = false;       // only a part was read, see kMaxEntries
    bool hasState = false;  // has a folder with the state of consumers, which is not searched for rings
    size_t entries() const { return files.size() + folders.size(); }
    std::vector<FoundFile> files;
    std::vector<std::string> folders;
  };
  // The directory and the folders in it that were found, by their paths.
  const std::map<std::string, Folder>& folders() const { return folders_; }

 private:
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
