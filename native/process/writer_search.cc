#include "process/writer_search.h"

#include <dirent.h>
#include <fcntl.h>
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

// Calls visit(FileId, address) for every shared writable file mapping of a process. Returns kDoesNot if all were
// visited.
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
    visit(FileId{makedev(major, minor), static_cast<ino_t>(inode)}, std::strtoull(line, nullptr, 16));
  }
  // The kernel checks the permission in read(), not in open().
  const bool unreadable = line == nullptr || (::ferror(maps) != 0 && errno != ESRCH);
  std::free(line);
  ::fclose(maps);
  return unreadable && errno != ESRCH && errno != 0 ? MapsAnswer::kUnknown : MapsAnswer::kDoesNot;
}

// Inode of the PID namespace of the host: a constant of Linux.
constexpr uint64_t kHostPidNamespace = 4026531836;

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

// True if the process is a child of `ancestor`, or a child of one.
bool isDescendant(pid_t pid, pid_t ancestor) {
  constexpr int kMostGenerations = 64;
  for (int i = 0; i < kMostGenerations && pid > 1; ++i) {
    pid = parentOf(pid);
    if (pid == ancestor) return true;
  }
  return false;
}

enum class Touched : uint8_t { kNo, kYes, kUnknown };

// Tells whether the page table of the process has an entry for the first page of one of these mappings.
Touched hasTouched(pid_t pid, const std::vector<uint64_t>& addresses) {
  constexpr uint64_t kPresentOrSwapped = uint64_t{3} << 62;
  const FileDescriptor pagemap(::open(("/proc/" + std::to_string(pid) + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC));
  if (!pagemap.valid()) return Touched::kUnknown;
  const uint64_t pageBytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const uint64_t address : addresses) {
    uint64_t entry = 0;
    const off_t place = static_cast<off_t>(address / pageBytes * sizeof entry);
    if (::pread(pagemap.get(), &entry, sizeof entry, place) != sizeof entry) return Touched::kUnknown;
    if ((entry & kPresentOrSwapped) != 0) return Touched::kYes;
  }
  return Touched::kNo;
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
  if (fresh)
    seen.answer = visitWritableMappings(pid, [&](const FileId& mapped, uint64_t) { seen.files.insert(mapped); });
  return seen.files.contains(file) ? MapsAnswer::kMaps : seen.answer;
}

// Example of a line: 1: FLOCK  ADVISORY  WRITE 17061 fe:00:2199116 0 EOF
FileLocks allFileLocks() {
  FileLocks locks;
  forEachLine("/proc/locks", [&](const char* line) {
    int pid = 0;
    unsigned long long inode = 0;
    if (std::sscanf(line, "%*u: FLOCK %*s %*s %d %*x:%*x:%llu", &pid, &inode) == 2 && pid > 0) {
      locks.emplace(pid, static_cast<ino_t>(inode));
    }
  });
  return locks;
}

void WriterSearch::begin(std::set<FileId> wanted, FileLocks consumers) {
  wanted_ = std::move(wanted);
  consumers_ = std::move(consumers);
  found_.clear();
  holders_.clear();
  pids_ = allProcesses();
  // With the mount option hidepid, /proc leaves out the processes that this one may not examine, the first one among
  // them.
  sawAll_ = ownPidNamespace() == kHostPidNamespace && !pids_.empty() && pids_.back() == 1;
  next_ = 0;
  running_ = true;
}

bool WriterSearch::step(std::chrono::steady_clock::time_point deadline) {
  while (running_ && next_ < pids_.size()) {
    const pid_t pid = pids_[next_++];
    std::map<FileId, std::vector<uint64_t>> writes;  // addresses of mappings by file
    const MapsAnswer answer = visitWritableMappings(pid, [&](const FileId& mapped, uint64_t address) {
      if (wanted_.contains(mapped)) writes[mapped].push_back(address);
    });
    sawAll_ = sawAll_ && answer != MapsAnswer::kUnknown;
    std::erase_if(writes, [&](const auto& mapped) {
      return mapped.second.size() == 1 && consumers_.contains({pid, mapped.first.inode});
    });
    if (!writes.empty()) {
      // If the pid passes to another process between these two reads, Agent::checkLife() later finds that this process
      // does not map the file.
      const ProcessId process{pid, processStartTime(pid)};
      for (auto& [file, addresses] : writes) {
        if (process.startTime == 0 || process.startTime == kStartUnknown) continue;
        holders_[file].push_back({process, std::move(addresses)});
      }
    }
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
  if (std::exchange(running_, false)) {
    for (auto& [file, holders] : holders_) found_.emplace(file, writersOf(holders));
  }
  return true;
}

// Leaves out processes that only inherited the mapping. If none of them has touched the header, the process that made
// the mapping has ended, and the eldest stands for all.
std::vector<ProcessId> WriterSearch::writersOf(const std::vector<Holder>& holders) {
  if (holders.size() == 1) return {holders.front().process};
  std::vector<Holder> writers;
  for (const Holder& holder : holders) {
    switch (hasTouched(holder.process.pid, holder.addresses)) {
      case Touched::kYes:
        writers.push_back(holder);
        break;
      case Touched::kUnknown: {
        const bool inherited = std::any_of(holders.begin(), holders.end(), [&](const Holder& other) {
          return other.addresses == holder.addresses && isDescendant(holder.process.pid, other.process.pid);
        });
        if (!inherited) writers.push_back(holder);
        break;
      }
      case Touched::kNo:
        break;
    }
  }
  const auto isYounger = [](const Holder& a, const Holder& b) {
    return std::pair(a.process.startTime, a.process.pid) > std::pair(b.process.startTime, b.process.pid);
  };
  if (writers.empty()) writers.push_back(*std::max_element(holders.begin(), holders.end(), isYounger));
  std::sort(writers.begin(), writers.end(), isYounger);
  std::vector<ProcessId> processes;
  for (const Holder& writer : writers) processes.push_back(writer.process);
  return processes;
}

}  // namespace nixl_otel
