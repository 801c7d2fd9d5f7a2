// Which files lie in a directory, cheaply enough to ask every 50 ms: a directory is read again only when its mtime
// says that names came or went. Polling, not inotify: no watch limits, and the same on every file system.

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
  // Whoever may write the directory must not fill this process's memory, nor take its time.
  static constexpr size_t kMaxEntries = 65'536;  // files and folders in all
  static constexpr size_t kMaxFolders = 1'024;
  static constexpr int kMaxDepth = 3;  // folders below the directory: NIXL joins an agent's name to it as a path

  // `pattern`: only names in the directory itself that match it (fnmatch), or "" for everything to kMaxDepth.
  DirectoryTree(std::string directory, std::string pattern);

  // True if files() changed. A directory that is not there has no files.
  bool refresh();
  const std::vector<FoundFile>& files() const { return files_; }
  // Whether a file at this path is, or would be, one of files(); then `agent` is its name here.
  bool covers(const std::string& path, std::string& agent) const;
  const std::string& directory() const { return directory_; }
  // Whether the directory itself can be read: kReady, kAbsent, kCorrupt where it is no directory, or kDenied; and why.
  RingState state() const { return state_; }
  const std::string& reason() const { return reason_; }
  // Folders in it that cannot be read, and what was not read to its end: path and reason.
  const std::map<std::string, std::string>& problems() const { return problems_; }
  // Whether any user of the machine may put files into it or into one of its folders.
  bool writableByAll() const { return writableByAll_; }

 private:
  struct Folder {
    timespec changed{};
    bool settled = false;  // its mtime was old enough when it was read: the next change will show
    bool seen = false;
    bool cut = false;  // there was no room for all that it has
    size_t entries() const { return files.size() + folders.size(); }
    std::vector<FoundFile> files;
    std::vector<std::string> folders;
  };

  bool visit(const std::string& path, const std::string& prefix, int depth);
  void fail(int error);
  bool read(Folder& folder, const std::string& path, const std::string& prefix, int depth);

  std::string directory_;
  std::string pattern_;
  RingState state_ = RingState::kReady;  // until it was searched
  std::string reason_;
  std::map<std::string, std::string> problems_;
  bool writableByAll_ = false;
  std::map<std::string, Folder> folders_;
  size_t entries_ = 0;  // of all of them
  std::vector<FoundFile> files_;
};

// Names are bytes; what leaves for JavaScript is UTF-8. Bytes that are not become \xNN, so that two names stay two.
std::string toUtf8(const std::string& bytes);

}  // namespace nixl_otel
