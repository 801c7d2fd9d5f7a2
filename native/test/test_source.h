// A source with which a test reads the collector's reports, and agents in separate processes.

#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "collector/collector.h"
#include "ring/ring_event.h"
#include "test_reader.h"

#ifdef __SANITIZE_THREAD__
// On a slow machine close() may time out, and the program may end before the collector's thread.
extern "C" __attribute__((used, visibility("default"))) inline const char* __tsan_default_options() {
  return "report_thread_leaks=0";
}
#endif

namespace nixl_otel {

// Takes a snapshot in one part. False if the collector's thread held a lock for longer than the budget.
inline bool wholeSnapshot(Source& source, uint32_t reader, const Collector::Visit& visit, WaitBudget& budget) {
  SnapshotPlace place;
  if (!Collector::instance().snapshotPart(source, place, SIZE_MAX, visit, budget)) return false;
  Collector::instance().noteRead(source, reader, place, budget);
  return true;
}

// A source of one directory, and its reports.
struct TestSource {
  explicit TestSource(const SourceOptions& options) : handle(Collector::instance().open(options)) {}
  explicit TestSource(const std::string& directory,
                      std::chrono::milliseconds deadTtl = std::chrono::milliseconds(30'000))
      : TestSource(optionsFor(directory, deadTtl)) {}
  ~TestSource() { Collector::instance().close(handle); }

  static SourceOptions optionsFor(const std::string& directory, std::chrono::milliseconds deadTtl) {
    SourceOptions options;
    options.places = {{directory, ""}};
    options.drainInterval = std::chrono::milliseconds(2);
    options.deadTtl = deadTtl;
    options.tally.typeCategories.assign(21, kTransfer);
    options.tally.typeBounds.assign(21, TallyOptions::kNoBounds);
    options.tally.bounds = {{1}};
    return options;
  }
  void drain() { Collector::instance().drainNow(std::chrono::milliseconds(10'000)); }
  // Requests a drain and returns the number of events of this agent, or of all agents if it is "".
  uint64_t counted(const std::string& agent = "") {
    drain();
    uint64_t sum = 0;
    snapshot([&](const SourceAgent& seen, const AgentStatus&, const Tally& tally) {
      if (!agent.empty() && seen.name != agent) return;
      for (const EventTally& event : tally.events()) sum += event.count;
    });
    return sum;
  }
  void snapshot(const Collector::Visit& visit) {
    WaitBudget forEver;
    wholeSnapshot(*handle, Source::kNoReader, visit, forEver);
  }
  // Returns the status of one agent.
  AgentStatus status(const std::string& agent) {
    AgentStatus found;
    snapshot([&](const SourceAgent& seen, const AgentStatus& status, const Tally&) {
      if (seen.name == agent) found = status;
    });
    return found;
  }
  size_t agents() {
    size_t count = 0;
    snapshot([&](const SourceAgent&, const AgentStatus&, const Tally&) { ++count; });
    return count;
  }
  bool alive(const std::string& agent) {
    bool found = false;
    snapshot([&](const SourceAgent& seen, const AgentStatus& status, const Tally&) {
      found |= seen.name == agent && status.life == Life::kAlive;
    });
    return found;
  }
  SourceReport report() {
    SourceReport report;
    WaitBudget forEver;
    Collector::instance().report(*handle, 100'000, report, forEver);
    return report;
  }
  std::vector<RingProblem> problems() { return report().problems; }
  // Returns the problems of the directory and of its files in one text, "" if there are none.
  std::string problem() {
    const SourceReport all = report();
    std::string text = all.places.front().reason;
    for (const RingProblem& one : all.problems) text += std::string(toString(one.state)) + ": " + one.reason;
    return text;
  }
  std::shared_ptr<Source> handle;
};

// Waits for the condition. If it never holds, the time limit of the test program ends the wait.
inline void waitUntil(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Waits until more than `more` further ticks have begun.
inline void waitForTicks(uint64_t more, const std::function<void()>& meanwhile = [] {}) {
  const uint64_t before = Collector::instance().stats().ticks;
  waitUntil([&] {
    meanwhile();
    return Collector::instance().stats().ticks > before + more;
  });
}

// A separate process that writes a ring. It pushes events when write() tells it to.
class AgentProcess {
 public:
  explicit AgentProcess(const std::string& path) {
    int orders[2];
    int answers[2];
    if (::pipe(orders) != 0 || ::pipe(answers) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(orders[1]);
      RingWriter ring;
      if (!ring.create(path, 4, 1024).empty()) ::_exit(1);
      for (uint32_t count = 0; ::write(answers[1], "x", 1) == 1 && ::read(orders[0], &count, sizeof count) > 0;) {
        push(ring, 1, count);
      }
      ::_exit(0);
    }
    ::close(orders[0]);
    ::close(answers[1]);
    orders_ = orders[1];
    answers_ = answers[0];
    waitForAnswer();
  }
  ~AgentProcess() { kill(); }
  void write(uint32_t count) {
    if (::write(orders_, &count, sizeof count) != sizeof count) std::abort();
    waitForAnswer();
  }
  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(orders_);
    ::close(answers_);
    pid_ = 0;
  }

 private:
  void waitForAnswer() {
    char done;
    if (::read(answers_, &done, 1) != 1) std::abort();
  }
  pid_t pid_ = 0;
  int orders_ = -1;
  int answers_ = -1;
};

}  // namespace nixl_otel
