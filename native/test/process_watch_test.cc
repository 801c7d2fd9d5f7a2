// Ends of processes: through pidfds, and without them.
#include "process/process_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "test_source.h"

using namespace nixl_otel;

namespace {

// A process that waits for its end.
class Waiting {
 public:
  Waiting() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) ::pause();
    }
  }
  Waiting(Waiting&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  ~Waiting() {
    if (pid_ == 0) return;
    kill();
    ::waitpid(pid_, nullptr, 0);
  }
  void kill() { ::kill(pid_, SIGKILL); }
  ProcessId id() const { return {pid_, processStartTime(pid_)}; }

 private:
  pid_t pid_;
};

// Begins passes until the watch finds that the process has ended.
void waitForEnd(ProcessWatch& watch, const ProcessId& process) {
  waitUntil([&] {
    watch.beginPass();
    return watch.hasEnded(process);
  });
}

// Runs `work` in a process of its own, whose settings end with it. Its exit code is that of `work`: 0, or the number of
// the first thing that was wrong.
int inOwnProcess(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// Finds the ends of `count` processes. 0: all was right with at most `pidfds` pidfds.
int findsEnds(size_t count, size_t pidfds) {
  std::vector<Waiting> processes(count);
  ProcessWatch watch;
  for (int pass = 0; pass < 3; ++pass) {
    watch.beginPass();
    for (const Waiting& process : processes) {
      if (watch.hasEnded(process.id())) return 1;
    }
    if (watch.pidfds() != pidfds) return 2;
  }
  for (Waiting& process : processes) {
    const ProcessId id = process.id();
    process.kill();
    waitForEnd(watch, id);
  }
  return 0;
}

// Lets the kernel refuse pidfds, as old kernels and sandboxes do.
bool refusePidfds(int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 434, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof filter / sizeof *filter, filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

bool hasPidfds() {
  const FileDescriptor own(static_cast<int>(::syscall(434, ::getpid(), 0)));
  return own.valid();
}

// Gives the next process of this pid namespace this pid.
bool setNextPid(pid_t pid) {
  const FileDescriptor last(::open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC));
  const std::string text = std::to_string(pid - 1);
  return last.valid() && ::write(last.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

TEST(findsEndOfProcessThatIsNotYetReaped) {
  Waiting process;
  const ProcessId id = process.id();
  ProcessWatch watch;
  CHECK(!watch.hasEnded(id));
  CHECK_EQ(watch.pidfds(), hasPidfds() ? 1u : 0u);
  watch.beginPass();
  CHECK(!watch.hasEnded(id));
  process.kill();
  waitForEnd(watch, id);
}

TEST(takesALaterProcessForNoEarlierOneOfItsPid) {
  const Waiting process;
  ProcessWatch watch;
  CHECK(watch.hasEnded({process.id().pid, process.id().startTime - 1}));
  CHECK(!watch.hasEnded(process.id()));
}

TEST(forgetsProcessesThatNobodyAsksFor) {
  const Waiting process;
  ProcessWatch watch;
  watch.hasEnded(process.id());
  CHECK_EQ(watch.pidfds(), hasPidfds() ? 1u : 0u);
  watch.beginPass();
  watch.beginPass();
  CHECK_EQ(watch.pidfds(), 0u);
}

TEST(leavesDescriptorsToOthers) {
  if (!hasPidfds()) return;
  CHECK_EQ(inOwnProcess([] {
             const rlimit few{64, 64};
             return ::setrlimit(RLIMIT_NOFILE, &few) == 0 ? findsEnds(12, 8) : 3;
           }),
           0);
}

TEST(findsEndsWherePidfdsAreRefused) {
  for (const int error : {ENOSYS, EPERM}) {
    CHECK_EQ(inOwnProcess([&] { return refusePidfds(error) ? findsEnds(3, 0) : 3; }), 0);
  }
}

// The pids of /proc are those of another namespace: pidfd_open() would watch another process.
TEST(takesNoProcessOfAnotherPidNamespace) {
  constexpr int kNotPermitted = 77;
  Waiting outer;
  const ProcessId id = outer.id();
  const int result = inOwnProcess([&] {
    if (::unshare(CLONE_NEWPID) != 0) return kNotPermitted;
    return inOwnProcess([&] {
      if (!setNextPid(id.pid)) return kNotPermitted;
      ProcessWatch watch;
      const pid_t inner = ::fork();
      if (inner == 0) {
        for (;;) ::pause();
      }
      if (inner != id.pid) return 1;
      if (watch.hasEnded(id)) return 2;
      ::kill(inner, SIGKILL);
      ::waitpid(inner, nullptr, 0);
      watch.beginPass();
      return watch.hasEnded(id) ? 3 : 0;
    });
  });
  CHECK(result == 0 || result == kNotPermitted);
  if (result == kNotPermitted) std::printf("  not permitted to make a pid namespace\n");
}

int main() { return check::run("process_watch_test"); }
