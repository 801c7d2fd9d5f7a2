#include "processes.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <stop_token>
#include <system_error>

#include "agent.h"
#include "signal_watch.h"

namespace nixl_otel::transfer_source {

namespace {

void printProblem(const std::string& problem) { std::fprintf(stderr, "transfer-source: %s\n", problem.c_str()); }

[[noreturn]] void exitAtOnce(int signal) { ::_exit(128 + signal); }

// Runs the agents first, first + step, ... in this process.
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
      agents.pop_back();  // a wait for it would not end
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
  if (!problem.empty()) printProblem(problem);
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

  // Waits for all children. The first that fails stops the others.
  int reap() {
    int code = 0;
    for (size_t left = pids_.size(); left > 0; left--) {
      siginfo_t info{};
      while (::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0) {
        if (errno != EINTR) return 1;
      }
      {
        // Reaped and forgotten under the lock: stopAll must not signal a pid that another process has by now.
        const std::lock_guard lock(mutex_);
        ::waitpid(info.si_pid, nullptr, 0);
        for (pid_t& pid : pids_) {
          if (pid == info.si_pid) pid = 0;
        }
      }
      if (info.si_code == CLD_EXITED && info.si_status == 0) continue;
      code = 1;
      if (info.si_code != CLD_EXITED) {
        // The others continue: killing an agent is a supported experiment.
        printProblem("process " + std::to_string(info.si_pid) + " was killed by signal " +
                     std::to_string(info.si_status) + ": the number of events of its agents is unknown");
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

// Runs in the child. A second signal stops it like the first: after Ctrl-C the terminal and the parent may both send
// one. The child ends with its parent.
int runChild(const Options& options, TotalsBoard& board, uint32_t index, pid_t parent, int readyPipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return 1;  // the parent died before the line above
  std::stop_source stop;
  const SignalWatch watch([&stop](int) { stop.request_stop(); });
  return runAgents(options, board, index, options.processes, stop, [readyPipe] {
    if (::write(readyPipe, "r", 1) != 1)
      printProblem(std::string("cannot notify the parent process: ") + std::strerror(errno));
    ::close(readyPipe);
  });
}

// Returns true when `count` children have reported that they are ready, false when one ended before.
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
    if (!stop.request_stop()) exitAtOnce(signal);  // false: it was not the first
  });
  return runAgents(options, board, 0, 1, stop, onReady);
}

int runChildren(const Options& options, TotalsBoard& board, const std::function<void()>& onReady) {
  const pid_t parent = ::getpid();
  int ready[2];
  if (::pipe(ready) != 0) {
    printProblem(std::string("cannot make a pipe: ") + std::strerror(errno));
    return 1;
  }
  Children children;
  bool forked = true;
  for (uint32_t i = 0; i < options.processes && forked; i++) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ready[0]);
      // The child must not run the parent's destructors nor write its buffers.
      ::_exit(runChild(options, board, i, parent, ready[1]));
    }
    if (pid < 0) printProblem(std::string("cannot fork: ") + std::strerror(errno));
    if (pid > 0) children.add(pid);
    forked = pid > 0;
  }
  ::close(ready[1]);
  std::atomic<bool> stopping = false;
  const SignalWatch watch([&](int signal) {
    if (stopping.exchange(true)) exitAtOnce(signal);  // and the children with it
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
