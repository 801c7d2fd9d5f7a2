// Ends of processes. A pidfd shows the end of its process, so that one system call suffices for all processes. Where
// the kernel or a sandbox refuses pidfds, /proc/PID/stat shows it, with some system calls for each process.
//
// Thread safety: none. At most one thread at a time may use a watch.

#pragma once

#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>

#include "posix/posix.h"

namespace nixl_otel {

struct ProcessId {
  pid_t pid = 0;
  uint64_t startTime = 0;  // clock ticks since boot; distinguishes processes to which the kernel gave the same pid
  auto operator<=>(const ProcessId&) const = default;
};

// Returns the start time of a process, 0 if it does not exist, or kStartUnknown if /proc cannot be read, for example
// because no descriptor is free.
uint64_t processStartTime(pid_t pid);
// Returns the pid of the process's parent; 0 if that is not known.
pid_t parentOf(pid_t pid);
inline constexpr uint64_t kStartUnknown = UINT64_MAX;
// True if the process does not exist, or if its pid is that of another one. False if that is not known.
bool hasEnded(const ProcessId& process);

class ProcessWatch {
 public:
  // Finds the processes that have ended, and forgets those that hasEnded() was not called for since the last pass.
  void beginPass();
  // True if the process had ended at the begin of this pass, or at the first call for it. False if that is not known.
  bool hasEnded(const ProcessId& process);

  // Number of processes that are watched through a pidfd.
  size_t pidfds() const { return pidfds_; }

 private:
  struct Watched {
    FileDescriptor pidfd;  // invalid: /proc/PID/stat is read in each pass
    bool isChecked = false;
    bool hasEnded = false;
  };

  FileDescriptor open(const ProcessId& process) const;

  std::map<ProcessId, Watched> watched_;
  size_t pidfds_ = 0;
};

}  // namespace nixl_otel
