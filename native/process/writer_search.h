// Search for the writers of a ring: the processes that map its file shared and writable. A ring contains no pid, so the
// search reads /proc/*/maps. It ignores mappings of this process and read-only mappings. It cannot see processes of
// other users or other PID namespaces.
//
// A process that inherited a mapping by fork() is no writer: agents write in a thread, and threads do not survive a
// fork. Its page table has no entry for the mapping, because the kernel copies none of a shared file, while that of a
// writer has one for the header. The address alone tells nothing: engines that one program forked may map their rings
// at equal addresses.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "process/process_watch.h"
#include "ring/ring_file.h"

namespace nixl_otel {

// Returns the inode of this process's pid namespace, or 0 if /proc does not tell it. A pid has a meaning only there.
uint64_t ownPidNamespace();

enum class MapsAnswer : uint8_t { kMaps, kDoesNot, kUnknown };

// Probes of processes during passes over the agents. Agents of the same process share a probe, because the kernel
// takes milliseconds to print the mappings of a large process.
class ProcessProbes {
 public:
  void beginPass();
  bool hasEnded(const ProcessId& process) { return watch_.hasEnded(process); }
  // Probes whether this process maps this file for writing.
  MapsAnswer mapsForWriting(pid_t pid, const FileId& file);

 private:
  struct Mapped {
    MapsAnswer answer;
    std::set<FileId> files;
  };
  ProcessWatch watch_;
  std::map<pid_t, Mapped> mapped_;  // in this pass
};

// Processes, and inodes of the files that they lock. Consumers lock rings; agents do not.
using FileLocks = std::set<std::pair<pid_t, ino_t>>;
FileLocks allFileLocks();

// Writers of each file, the youngest process first.
using WritersByFile = std::map<FileId, std::vector<ProcessId>>;

// One pass over all processes, highest pid first. The pass is divided into slices: with thousands of processes or
// mappings it takes longer than a drain may wait.
class WriterSearch {
 public:
  bool running() const { return running_; }
  // Begins a pass for the writers of these files. A process in `consumers` is no writer of a ring that it locks and
  // maps only once.
  void begin(std::set<FileId> wanted, FileLocks consumers = {});
  // Continues the pass until the deadline. True if it is complete.
  bool step(std::chrono::steady_clock::time_point deadline);
  // True if the complete pass could see all processes of the host and their mappings. Then a ring without a writer has
  // none, unless the writer started while the pass ran.
  bool sawAll() const { return sawAll_; }
  const std::set<FileId>& wanted() const { return wanted_; }
  const WritersByFile& found() const { return found_; }

 private:
  struct Holder {
    ProcessId process;
    std::vector<uint64_t> addresses;  // of its mappings
  };

  static std::vector<ProcessId> writersOf(const std::vector<Holder>& holders);

  bool running_ = false;
  bool sawAll_ = false;  // so far
  std::set<FileId> wanted_;
  FileLocks consumers_;
  std::vector<pid_t> pids_;
  size_t next_ = 0;
  std::map<FileId, std::vector<Holder>> holders_;
  WritersByFile found_;
};

}  // namespace nixl_otel
