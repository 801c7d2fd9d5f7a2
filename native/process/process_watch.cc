#include "process/process_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace nixl_otel {
namespace {

// Older headers lack it. The number is the same on all machines that Node runs on.
#ifndef SYS_pidfd_open
constexpr long SYS_pidfd_open = 434;
#endif

// Share of the files that this process may open. Rings may take half of them.
constexpr rlim_t kShareOfFiles = 8;

size_t mostPidfds() {
  rlimit limit;
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur / kShareOfFiles : 0;
}

// Reads the begin of a file of /proc, which is one line or few. Returns the number of bytes, 0 if the file is empty, or
// -1 with errno.
ssize_t readBegin(const std::string& path, char* text, size_t room) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return -1;
  const ssize_t got = ::read(fd.get(), text, room - 1);
  if (got >= 0) text[got] = '\0';
  return got;
}

// `startTime`: of the process that has the pid now.
bool isOver(const ProcessId& process, uint64_t startTime) {
  return startTime != kStartUnknown && startTime != process.startTime;
}

// Returns the pid that /proc has for the process of a pidfd; 0 if it has none. /proc may be that of another pid
// namespace than the one in which pidfd_open() takes a pid.
pid_t pidInProc(const FileDescriptor& pidfd) {
  char text[1024];
  if (readBegin("/proc/self/fdinfo/" + std::to_string(pidfd.get()), text, sizeof text) <= 0) return 0;
  const char* field = std::strstr(text, "\nPid:");
  int pid = 0;
  return field != nullptr && std::sscanf(field, "\nPid: %d", &pid) == 1 ? pid : 0;
}

struct Stat {
  pid_t parent = 0;
  uint64_t startTime = 0;
};

// `startTime` as in processStartTime().
Stat statOf(pid_t pid) {
  char text[1024];
  const ssize_t got = readBegin("/proc/" + std::to_string(pid) + "/stat", text, sizeof text);
  if (got <= 0) return {0, got == 0 || errno == ENOENT || errno == ESRCH ? 0 : kStartUnknown};
  // The command, the second field, is in parentheses and may contain spaces and parentheses. Parses after the last one.
  const char* field = std::strrchr(text, ')');
  if (field == nullptr) return {};
  char state = 0;
  int parent = 0;
  unsigned long long start = 0;
  if (std::sscanf(field + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
                  &parent, &start) != 3) {
    return {};
  }
  return {parent, state == 'Z' || state == 'X' ? 0 : start};  // a zombie writes nothing
}

}  // namespace

uint64_t processStartTime(pid_t pid) { return statOf(pid).startTime; }

pid_t parentOf(pid_t pid) { return statOf(pid).parent; }

bool hasEnded(const ProcessId& process) { return isOver(process, processStartTime(process.pid)); }

void ProcessWatch::beginPass() {
  std::erase_if(watched_, [](const auto& entry) { return !entry.second.isChecked; });
  std::vector<pollfd> polled;
  std::vector<Watched*> processes;
  for (auto& [process, watched] : watched_) {
    watched.isChecked = false;
    if (!watched.pidfd.valid()) continue;
    polled.push_back({watched.pidfd.get(), POLLIN, 0});
    processes.push_back(&watched);
  }
  pidfds_ = polled.size();
  if (polled.empty()) return;
  const int ready = ::poll(polled.data(), polled.size(), 0);
  if (ready < 0 && errno != EINTR) {
    // The limit of descriptors may have been lowered below the number of pidfds. /proc/PID/stat remains.
    for (Watched* watched : processes) watched->pidfd.reset();
    pidfds_ = 0;
  }
  if (ready <= 0) return;
  for (size_t i = 0; i < polled.size(); ++i) processes[i]->hasEnded = (polled[i].revents & (POLLIN | POLLHUP)) != 0;
}

bool ProcessWatch::hasEnded(const ProcessId& process) {
  const auto [at, isNew] = watched_.try_emplace(process);
  Watched& watched = at->second;
  if (std::exchange(watched.isChecked, true) || watched.pidfd.valid()) return watched.hasEnded;
  // Before the start time is read: if that is right, the pidfd is of this process, and not of a later one with its pid.
  if (isNew) watched.pidfd = open(process);
  const uint64_t startTime = processStartTime(process.pid);
  watched.hasEnded = isOver(process, startTime);
  if (startTime != process.startTime) watched.pidfd.reset();
  pidfds_ += watched.pidfd.valid();
  return watched.hasEnded;
}

// Returns an invalid descriptor if the process cannot be watched.
FileDescriptor ProcessWatch::open(const ProcessId& process) const {
  if (pidfds_ >= mostPidfds()) return FileDescriptor();
  FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  return pidfd.valid() && pidInProc(pidfd) == process.pid ? std::move(pidfd) : FileDescriptor();
}

}  // namespace nixl_otel
