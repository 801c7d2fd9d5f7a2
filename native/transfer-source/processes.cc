#include "processes.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <system_error>

#include "agent.h"
#include "print_line.h"
#include "signal_watch.h"

namespace nixl_otel::transfer_source {

namespace {

[[noreturn]] void exitAtOnce(int signal) { ::_exit(128 + signal); }

// Runs the agents with the indices first, first + step, ... in this process. Returns the exit code.
int runAgents(const Options& options, TotalsBoard& board, uint32_t first, uint32_t step, std::stop_source& stop,
              const std::function<void()>& onReady) {
  std::vector<std::unique_ptr<Agent>> agents;
  std::string problem;
  for (uint32_t i = first; i < options.agents; i += step) {
    agents.push_back(std::make_unique<Agent>(options, i, stop.get_token(), board[i]));
    try {
      agents.back()->start();
    } catch (const std::system_error& error) {
      problem = options.agentName(i) + ": cannot start a thread: " + error.what();
      agents.pop_back();  // has no thread, so waitReady() would never return
      break;
    }
  }
  for (const auto& agent : agents) {
    const std::string failed = agent->waitReady();
    if (problem.empty()) problem = failed;
  }
  if (problem.empty()) {
    onReady();
  } else {
    stop.request_stop();
  }
  for (const auto& agent : agents) {
    const std::string failed = agent->join();
    if (problem.empty()) problem = failed;
  }
  if (!problem.empty()) printLine(problem);
  return problem.empty() ? 0 : 1;
}

class Children {
 public:
  void add(pid_t pid) { pids_.push_back(pid); }

  void stopAll() {
    const std::lock_guard lock(mutex_);
    for (const pid_t pid : pids_) {
      if (pid != 0) ::kill(pid, SIGTERM);
    }
  }

  // Waits for all children, and returns the exit code. The first child that fails stops the others.
  int reap() {
    int code = 0;
    for (size_t left = pids_.size(); left > 0; left--) {
      siginfo_t info{};
      while (::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0) {
        if (errno != EINTR) return 1;
      }
      {
        // Reaps and forgets the pid with the mutex held: stopAll() must not signal another process that gets this pid.
        const std::lock_guard lock(mutex_);
        ::waitpid(info.si_pid, nullptr, 0);
        for (pid_t& pid : pids_) {
          if (pid == info.si_pid) pid = 0;
        }
      }
      if (info.si_code == CLD_EXITED && info.si_status == 0) continue;
      code = 1;
      if (info.si_code != CLD_EXITED) {
        // The other children continue, because users kill agents for experiments.
        printLine("process " + std::to_string(info.si_pid) + " was killed by signal " + std::to_string(info.si_status) +
                  ": the number of events of its agents is unknown");
      } else {
        stopAll();
      }
    }
    return code;
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> pids_;  // 0: reaped
};

// Runs in the child process, which ends with its parent. A second signal has no further effect: after Ctrl-C the
// terminal and the parent may each send one.
int runChild(const Options& options, TotalsBoard& board, uint32_t index, pid_t parent, int readyPipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return 1;  // the parent ended before prctl()
  std::stop_source stop;
  const SignalWatch watch([&stop](int) { stop.request_stop(); });
  return runAgents(options, board, index, options.processes, stop, [readyPipe] {
    if (::write(readyPipe, "r", 1) != 1)
      printLine(std::string("cannot notify the parent process: ") + std::strerror(errno));
    ::close(readyPipe);
  });
}

// Waits until `count` children are ready. False if one ended before.
bool waitReady(int pipe, uint32_t count) {
  char byte;
  while (count > 0) {
    const ssize_t got = ::read(pipe, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    count--;
  }
  return true;
}

}  // namespace

TotalsBoard::TotalsBoard(uint32_t agents) {
  void* memory =
      ::mmap(nullptr, agents * sizeof(AgentTotals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error(std::string("cannot map memory: ") + std::strerror(errno));
  totals_ = static_cast<AgentTotals*>(memory);
  for (uint32_t i = 0; i < agents; i++) new (&totals_[i]) AgentTotals();
}

int runHere(const Options& options, TotalsBoard& board, const std::function<void()>& onReady) {
  std::stop_source stop;
  const SignalWatch watch([&stop](int signal) {
    if (!stop.request_stop()) exitAtOnce(signal);  // false: a second signal
  });
  return runAgents(options, board, 0, 1, stop, onReady);
}

int runChildren(const Options& options, TotalsBoard& board, const std::function<void()>& onReady) {
  const pid_t parent = ::getpid();
  int ready[2];
  if (::pipe(ready) != 0) {
    printLine(std::string("cannot make a pipe: ") + std::strerror(errno));
    return 1;
  }
  Children children;
  bool forked = true;
  for (uint32_t i = 0; i < options.processes && forked; i++) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ready[0]);
      // The child must neither run the parent's destructors nor write its buffers.
      ::_exit(runChild(options, board, i, parent, ready[1]));
    }
    if (pid < 0) printLine(std::string("cannot fork: ") + std::strerror(errno));
    if (pid > 0) children.add(pid);
    forked = pid > 0;
  }
  ::close(ready[1]);
  std::atomic<bool> stopping = false;
  const SignalWatch watch([&](int signal) {
    if (stopping.exchange(true)) exitAtOnce(signal);  // the children end with this process
    children.stopAll();
  });
  if (forked && waitReady(ready[0], options.processes)) {
    onReady();
  } else {
    children.stopAll();
    forked = false;
  }
  ::close(ready[0]);
  const int code = children.reap();
  return forked ? code : 1;
}

}  // namespace nixl_otel::transfer_source
