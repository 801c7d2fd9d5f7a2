// Agents as processes that push events, end, and come back under their names, until the test ends. They keep assumption
// B of drain_protocol.h by a condition, not by time: a new agent pushes nothing before the drain that ran at its start
// has ended.

#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <string>

#include "kill_log.h"
#include "ring/ring_writer.h"

namespace nixl_otel::kills {

struct Board {
  static constexpr uint32_t kMostAgents = 24;
  std::atomic<uint64_t> drains;  // drains that have ended, two at each death of a consumer
  std::atomic<uint32_t> deaths;  // of consumers
  uint32_t plannedDeaths;
  std::atomic<uint32_t> interrupts;  // requests to interrupted agents to rebuild their rings
  std::atomic<bool> ending;          // agents push nothing more, and wait for an empty ring
  std::atomic<bool> ended;           // no agent is left: the consumer compares all numbers and ends
  uint64_t seed;
  uint32_t agents;
  std::array<AgentLog, kMostAgents> log;
  char failure[2000];  // of a consumer
};

inline void pauseBriefly() { ::usleep(200); }

// Ends with the process that started it, also if that is killed.
inline pid_t forkChild() {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
  }
  return pid;
}

class AgentLife {
 public:
  AgentLife(Board& board, AgentLog& log, const std::string& path)
      : board_(board), log_(log), number_(log.count), random_(mixed(board.seed ^ mixed(log.name[0] + 31 * number_))) {
    Incarnation& life = log.each[number_];
    life.version = releasedVersion();
    life.capacity = capacity();
    interrupts_ = board.interrupts;
    if (log.habit == Habit::kReplacing) ::unlink(path.c_str());
    if (!ring_.create(path, life.version, life.capacity).empty()) std::abort();
    log.count = number_ + 1;
  }

  void run() {
    waitForDrains(2);  // the first of them may have ended a drain that ran when the ring was rebuilt
    log_.settled = number_ + 1;
    const bool isLast = number_ + 1 == AgentLog::kMost || (isInterrupted() && number_ + 1 == kMostInterruptions);
    const uint64_t groups = isEndless() ? UINT64_MAX : 1 + random_() % 60;
    // At least one group: without an event it would not be known whether a consumer has seen this incarnation.
    for (uint64_t group = 0; group == 0 || (!board_.ending && (group < groups || isLast));) {
      for (uint64_t burst = 1 + random_() % 30; burst > 0 && pushGroup(); --burst) ++group;
      if (isInterrupted() && !isLast && (board_.interrupts != interrupts_ || isDue())) break;
      if (!isInterrupted()) waitForDrains(random_() % 2);  // an interruption may come during a drain
      pauseBriefly();
    }
    if (isInterrupted()) {
      log_.each[number_].left = ring_.pending();
      return;
    }
    while (ring_.pending() > 0) pauseBriefly();
  }

 private:
  bool isInterrupted() const { return log_.habit == Habit::kInterrupted; }
  // Spreads the rebuilds over the run.
  bool isDue() { return number_ < kMostInterruptions * board_.deaths / board_.plannedDeaths && random_() % 4 == 0; }
  bool isEndless() const { return log_.habit == Habit::kSteady || log_.habit == Habit::kFull; }
  int32_t releasedVersion() { return isEndless() ? 4 : 1 + static_cast<int32_t>(random_() % 5); }
  uint64_t capacity() {
    if (log_.habit == Habit::kSteady) return 1024;
    if (log_.habit == Habit::kFull) return 16;
    constexpr uint64_t kSizes[] = {16, 64, 64, 256};
    return kSizes[random_() % 4];
  }

  // Waits for so many further ends of drains.
  void waitForDrains(uint64_t more) {
    const uint64_t until = board_.drains + more;
    while (board_.drains < until) pauseBriefly();
  }

  // Pushes a group of events without a pause, so that no consumer finds the ring full within a transfer. An agent that
  // waits for room pushes as many as the ring takes.
  bool pushGroup() {
    const uint64_t room = ring_.capacity() - 1 - ring_.pending();
    if (log_.habit != Habit::kFull && room < kGroup + ring_.capacity() / 2) return false;
    Incarnation& life = log_.each[number_];
    for (uint64_t i = 0; i < kGroup; ++i) {
      const RingEvent event = eventAt(log_, number_, life.pushed);
      life.begun = life.pushed + 1;
      if (!ring_.push(event)) {
        --life.begun;
        return false;
      }
      ++life.pushed;
    }
    return true;
  }

  Board& board_;
  AgentLog& log_;
  const uint32_t number_;
  uint32_t interrupts_;
  std::mt19937_64 random_;
  RingWriter ring_;
};

// Starts a process that keeps an agent: it starts a process for each incarnation, one after another.
inline pid_t keepAgent(Board& board, AgentLog& log, const std::string& path) {
  const pid_t keeper = forkChild();
  if (keeper != 0) return keeper;
  while (!board.ending) {
    const pid_t pid = forkChild();
    if (pid == 0) {
      AgentLife(board, log, path).run();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0) ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace nixl_otel::kills
