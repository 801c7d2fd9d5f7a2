#include "discovery.h"

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

// Kernels stamp mtime with the time of the last timer tick, up to 10 ms ago: a change in the same tick as our look
// leaves the same stamp. A stamp younger than this is not trusted to be the last one.
constexpr double kStampGrainSeconds = 0.1;

bool same(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

// A stamp may be any number, and so many seconds in nanoseconds, or their difference, more than an integer holds.
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

// File systems that do not tell the kind in the directory entry are asked per file.
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
  agent = path.substr(prefix.size());
  const auto depth = std::count(agent.begin(), agent.end(), '/');
  if (pattern_.empty()) return depth <= kMaxDepth;
  return depth == 0 && ::fnmatch(pattern_.c_str(), agent.c_str(), FNM_PERIOD) == 0;
}

bool DirectoryTree::visit(const std::string& path, const std::string& prefix, int depth) {
  struct stat info;
  // The directory itself may be a link (that is the operator's choice); what lies below it may not.
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
    // (A stamp in the future says nothing about now.)
    folder.settled = std::abs(secondsBetween(info.st_mtim, now)) > kStampGrainSeconds;
    changed |= read(folder, path, prefix, depth);
  }
  if (folder.cut)
    problems_[directory_] = "more than " + std::to_string(kMaxEntries) + " files; the rest is not looked at";
  for (const std::string& name : folder.folders) changed |= visit(path + "/" + name, prefix + name + "/", depth + 1);
  return changed;
}

// The directory itself cannot be read.
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
    // (What lies below may have been removed or replaced meanwhile.)
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
  folder.cut = false;
  const size_t room = kMaxEntries - (entries_ - folder.entries());
  while (const dirent* entry = ::readdir(directory)) {
    const char* name = entry->d_name;
    if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
    if (files.size() + folders.size() == room) {
      folder.cut = true;
      break;
    }
    const unsigned char kind = kindOf(::dirfd(directory), entry);
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
  // The same name may be another file now, which only its inode tells: say changed once the stamp has come to rest.
  changed |= folder.settled;
  folder.files = std::move(files);
  folder.folders = std::move(folders);
  entries_ = kMaxEntries - room + folder.entries();
  return changed;
}

std::string toUtf8(const std::string& bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const size_t length = lead < 0x80                   ? 1
                          : lead >= 0xC2 && lead < 0xE0 ? 2
                          : lead >= 0xE0 && lead < 0xF0 ? 3
                          : lead >= 0xF0 && lead < 0xF5 ? 4
                                                        : 0;
    bool good = length != 0 && i + length <= bytes.size();
    for (size_t k = 1; good && k < length; ++k) good = (static_cast<unsigned char>(bytes[i + k]) & 0xC0) == 0x80;
    if (good && length == 3) {
      const auto next = static_cast<unsigned char>(bytes[i + 1]);
      good = !(lead == 0xE0 && next < 0xA0) && !(lead == 0xED && next >= 0xA0);  // overlong; surrogates
    }
    if (good && length == 4) {
      const auto next = static_cast<unsigned char>(bytes[i + 1]);
      good = !(lead == 0xF0 && next < 0x90) && !(lead == 0xF4 && next >= 0x90);  // overlong; above U+10FFFF
    }
    if (good) {
      out.append(bytes, i, length);
      i += length;
    } else {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02X", lead);
      out += escaped;
      ++i;
    }
  }
  return out;
}

}  // namespace nixl_otel
