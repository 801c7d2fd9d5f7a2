#include "collector/discovery.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

namespace nixl_otel {
namespace {

// A kernel sets mtime to the time of its last timer tick, which is up to 10 ms old. A change right after this read may
// therefore leave the same mtime. Only an mtime that is older than this shows every later change.
constexpr double kStampGrainSeconds = 0.1;

bool same(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

// Computes with doubles: an mtime may be any number, and a difference, or nanoseconds, may overflow an integer.
double secondsBetween(const timespec& a, const timespec& b) {
  const double seconds = static_cast<double>(b.tv_sec) - static_cast<double>(a.tv_sec);
  return seconds + static_cast<double>(b.tv_nsec - a.tv_nsec) / 1e9;
}

const char* problemOf(unsigned char kind) {
  switch (kind) {
    case DT_REG:
      return nullptr;
    case DT_LNK:
      return "a symbolic link, which is not followed";
    case DT_FIFO:
      return "a fifo";
    case DT_SOCK:
      return "a socket";
    default:
      return "a device";
  }
}

// Asks for the kind if the file system does not report it in the directory entry.
unsigned char kindOf(int directory, const dirent* entry) {
  if (entry->d_type != DT_UNKNOWN) return entry->d_type;
  struct stat info;
  if (::fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) return DT_REG;
  return static_cast<unsigned char>((info.st_mode & S_IFMT) >> 12);
}

}  // namespace

DirectoryTree::DirectoryTree(std::string directory, std::string pattern)
    : directory_(std::move(directory)), pattern_(std::move(pattern)) {}

bool DirectoryTree::refresh() {
  for (auto& [path, folder] : folders_) folder.seen = false;
  problems_.clear();
  state_ = RingState::kReady;
  reason_.clear();
  writableByAll_ = false;
  bool changed = visit(directory_, "", 0);
  changed |= std::erase_if(folders_, [&](const auto& entry) {
               if (!entry.second.seen) entries_ -= entry.second.entries();
               return !entry.second.seen;
             }) != 0;
  if (!changed) return false;
  files_.clear();
  for (const auto& [path, folder] : folders_) files_.insert(files_.end(), folder.files.begin(), folder.files.end());
  return true;
}

bool DirectoryTree::covers(const std::string& path, std::string& agent) const {
  const std::string prefix = directory_ + "/";
  if (!path.starts_with(prefix)) return false;
  if (inStateFolder(path.substr(0, path.rfind('/')))) return false;
  agent = path.substr(prefix.size());
  const auto depth = std::count(agent.begin(), agent.end(), '/');
  if (pattern_.empty()) return depth <= kMaxDepth;
  return depth == 0 && ::fnmatch(pattern_.c_str(), agent.c_str(), FNM_PERIOD) == 0;
}

bool DirectoryTree::visit(const std::string& path, const std::string& prefix, int depth) {
  struct stat info;
  // The directory itself may be a link: the operator configured it. A folder below it may not.
  if ((depth == 0 ? ::stat(path.c_str(), &info) : ::lstat(path.c_str(), &info)) != 0) {
    if (depth == 0) fail(errno);
    return false;
  }
  if (!S_ISDIR(info.st_mode)) {
    if (depth == 0) fail(ENOTDIR);
    return false;
  }
  if (folders_.size() >= kMaxFolders && !folders_.contains(path)) {
    problems_[directory_] = "more than " + std::to_string(kMaxFolders) + " folders; the rest is not searched";
    return false;
  }
  writableByAll_ |= (info.st_mode & S_IWOTH) != 0;
  const auto [at, fresh] = folders_.try_emplace(path);
  Folder& folder = at->second;
  folder.seen = true;
  bool changed = fresh;
  const bool roomAgain = folder.cut && entries_ < kMaxEntries;
  if (fresh || !folder.settled || roomAgain || !same(folder.changed, info.st_mtim)) {
    timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    folder.changed = info.st_mtim;
    // The absolute value: an mtime slightly in the future may be as young.
    folder.settled = std::abs(secondsBetween(info.st_mtim, now)) > kStampGrainSeconds;
    changed |= read(folder, path, prefix, depth);
  }
  if (folder.cut) problems_[directory_] = "more than " + std::to_string(kMaxEntries) + " files; the rest is ignored";
  for (const std::string& name : folder.folders) changed |= visit(path + "/" + name, prefix + name + "/", depth + 1);
  return changed;
}

// Sets the state of a directory that cannot be read.
void DirectoryTree::fail(int error) {
  state_ = error == ENOENT ? RingState::kAbsent : error == ENOTDIR ? RingState::kCorrupt : RingState::kDenied;
  reason_ = error == ENOENT    ? "there is no such directory"
            : error == ENOTDIR ? "not a directory"
                               : std::strerror(error);
}

bool DirectoryTree::read(Folder& folder, const std::string& path, const std::string& prefix, int depth) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth == 0 ? 0 : O_NOFOLLOW));
  DIR* directory = fd < 0 ? nullptr : ::fdopendir(fd);
  if (directory == nullptr) {
    // Another process may have removed or replaced a folder below meanwhile.
    const bool raced = depth != 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
    if (depth == 0) {
      fail(errno);
    } else if (!raced) {
      problems_[path] = std::strerror(errno);
    }
    if (fd >= 0) ::close(fd);
    folder.settled = false;
    return false;
  }
  std::vector<FoundFile> files;
  std::vector<std::string> folders;
  folder.cut = folder.hasState = false;
  const size_t room = kMaxEntries - (entries_ - folder.entries());
  while (const dirent* entry = ::readdir(directory)) {
    const char* name = entry->d_name;
    if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
    if (files.size() + folders.size() == room) {
      folder.cut = true;
      break;
    }
    const unsigned char kind = kindOf(::dirfd(directory), entry);
    if (kind == DT_DIR && std::strcmp(name, kStateFolderName) == 0) {
      folder.hasState = true;
      continue;
    }
    if (kind == DT_DIR) {
      if (pattern_.empty() && depth < kMaxDepth) folders.emplace_back(name);
      continue;
    }
    if (!pattern_.empty() && ::fnmatch(pattern_.c_str(), name, FNM_PERIOD) != 0) continue;
    files.push_back({path + "/" + name, prefix + name, problemOf(kind)});
  }
  ::closedir(directory);
  bool changed = files.size() != folder.files.size() || folders != folder.folders;
  for (size_t i = 0; !changed && i < files.size(); ++i) changed = files[i].path != folder.files[i].path;
  // A name may belong to another file now, which only the inode shows. Therefore a settled read always reports a
  // change.
  changed |= folder.settled;
  folder.files = std::move(files);
  folder.folders = std::move(folders);
  entries_ = kMaxEntries - room + folder.entries();
  return changed;
}

}  // namespace nixl_otel
