#include "writer_search.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace nixl_otel {
namespace {

// Calls visit(FileId) for every shared writable file mapping of a process. Returns kDoesNot if all were visited.
//
// Example of a line: 7f12a4000000-7f12a4001000 rw-s 00000000 fe:00 131077   /run/nixl/agent
template <typename Visit>
MapsAnswer visitWritableMappings(pid_t pid, Visit&& visit) {
  const std::string path = "/proc/" + std::to_string(pid) + "/maps";
  FILE* maps = ::fopen(path.c_str(), "re");
  if (maps == nullptr) return errno == ENOENT ? MapsAnswer::kDoesNot : MapsAnswer::kUnknown;
  char* line = nullptr;
  size_t room = 0;
  errno = 0;
  while (::getline(&line, &room, maps) > 0) {
    char mode[5] = {};
    unsigned int major = 0;
    unsigned int minor = 0;
    unsigned long long inode = 0;
    const char* afterAddress = std::strchr(line, ' ');
    // Checks two letters before parsing, because nearly all lines are private mappings.
    if (afterAddress == nullptr || std::strlen(afterAddress) < 6 || afterAddress[4] != 's' || afterAddress[2] != 'w') {
      continue;
    }
    if (std::sscanf(afterAddress, " %4s %*x %x:%x %llu", mode, &major, &minor, &inode) != 4 || inode == 0) continue;
    visit(FileId{makedev(major, minor), static_cast<ino_t>(inode)});
  }
  // The kernel checks the permission in read(), not in open().
  const bool unreadable = line == nullptr || (::ferror(maps) != 0 && errno != ESRCH);
  std::free(line);
  ::fclose(maps);
  return unreadable && errno != ESRCH && errno != 0 ? MapsAnswer::kUnknown : MapsAnswer::kDoesNot;
}

std::vector<pid_t> allProcesses() {
  std::vector<pid_t> pids;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return pids;
  while (const dirent* entry = ::readdir(proc)) {
    const long pid = std::strtol(entry->d_name, nullptr, 10);
    if (pid > 0 && pid != ::getpid()) pids.push_back(static_cast<pid_t>(pid));
  }
  ::closedir(proc);
  std::sort(pids.rbegin(), pids.rend());
  return pids;
}

}  // namespace

uint64_t ownPidNamespace() {
  static const uint64_t own = [] {
    struct stat info;
    return ::stat("/proc/self/ns/pid", &info) == 0 ? uint64_t{info.st_ino} : 0;
  }();
  return own;
}

void ProcessProbes::beginPass() {
  watch_.beginPass();
  mapped_.clear();
}

MapsAnswer ProcessProbes::mapsForWriting(pid_t pid, const FileId& file) {
  const auto [at, fresh] = mapped_.try_emplace(pid);
  Mapped& seen = at->second;
  if (fresh) seen.answer = visitWritableMappings(pid, [&](const FileId& mapped) { seen.files.insert(mapped); });
  return seen.files.contains(file) ? MapsAnswer::kMaps : seen.answer;
}

// Example of a line: 1: FLOCK  ADVISORY  WRITE 17061 fe:00:2199116 0 EOF
FileLocks allFileLocks() {
  FileLocks locks;
  FILE* file = ::fopen("/proc/locks", "re");
  if (file == nullptr) return locks;
  char* line = nullptr;
  size_t room = 0;
  while (::getline(&line, &room, file) > 0) {
    int pid = 0;
    unsigned long long inode = 0;
    if (std::sscanf(line, "%*u: FLOCK %*s %*s %d %*x:%*x:%llu", &pid, &inode) == 2 && pid > 0) {
      locks.emplace(pid, static_cast<ino_t>(inode));
    }
  }
  std::free(line);
  ::fclose(file);
  return locks;
}

void WriterSearch::begin(std::set<FileId> wanted, FileLocks consumers) {
  wanted_ = std::move(wanted);
  consumers_ = std::move(consumers);
  found_.clear();
  pids_ = allProcesses();
  next_ = 0;
  running_ = true;
}

bool WriterSearch::step(std::chrono::steady_clock::time_point deadline) {
  while (running_ && next_ < pids_.size() && found_.size() < wanted_.size()) {
    const pid_t pid = pids_[next_++];
    std::map<FileId, uint32_t> writes;  // number of mappings by file
    visitWritableMappings(pid, [&](const FileId& mapped) {
      if (wanted_.contains(mapped)) ++writes[mapped];
    });
    std::erase_if(writes, [&](const auto& mapped) {
      return mapped.second == 1 && consumers_.contains({pid, mapped.first.inode});
    });
    if (!writes.empty()) {
      // If the pid passes to another process between these two reads, Agent::checkLife() later finds that this process
      // does not map the file.
      const ProcessId process{pid, processStartTime(pid)};
      for (const auto& [file, mappings] : writes) {
        if (process.startTime != 0 && process.startTime != kStartUnknown) found_.try_emplace(file, process);
      }
    }
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
  running_ = false;
  return true;
}

}  // namespace nixl_otel
