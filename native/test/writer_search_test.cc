// Writers of a ring among real processes.
#include "process/writer_search.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>

#include "check.h"
#include "collector/agent.h"
#include "ring/ring_writer.h"
#include "temporary_directory.h"
#include "test_reader.h"
#include "test_source.h"

using namespace nixl_otel;

namespace {

// A process that maps the file for writing as an agent does, and starts `children` processes that inherit the mapping.
class Writer {
 public:
  explicit Writer(const std::string& path, int children = 0) {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      RingWriter ring(WriterLock::kNone);
      if (!ring.create(path, 4, 64).empty()) ::_exit(1);
      for (int i = 0; i < children; ++i) {
        const pid_t child = ::fork();
        if (child == 0) waitForEver();
        if (::write(ready[1], &child, sizeof child) != sizeof child) ::_exit(1);
      }
      const pid_t own = ::getpid();
      if (::write(ready[1], &own, sizeof own) != sizeof own) ::_exit(1);
      waitForEver();
    }
    for (pid_t pid = 0; pid != pid_;) {
      if (::read(ready[0], &pid, sizeof pid) != sizeof pid) std::abort();
      if (pid != pid_) children_.push_back(pid);
    }
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Writer() {
    end();
    for (const pid_t child : children_) ::kill(child, SIGKILL);
  }

  // Ends the process, but not its children.
  void end() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }
  const std::vector<pid_t>& children() const { return children_; }

 private:
  [[noreturn]] static void waitForEver() {
    for (;;) ::pause();
  }

  pid_t pid_ = 0;
  std::vector<pid_t> children_;
};

WritersByFile search(const std::string& path) {
  WriterSearch search;
  search.begin({fileAt(path).value()});
  while (!search.step(std::chrono::steady_clock::time_point::max())) {
  }
  return search.found();
}

std::set<pid_t> writersOf(const std::string& path) {
  std::set<pid_t> pids;
  for (const auto& [file, processes] : search(path)) {
    for (const ProcessId& process : processes) pids.insert(process.pid);
  }
  return pids;
}

}  // namespace

TEST(findsEveryWriterOfARing) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  Writer first(path);
  Writer second(path);
  const Writer third(path);
  CHECK(writersOf(path) == (std::set<pid_t>{first.pid(), second.pid(), third.pid()}));
  CHECK_EQ(search(path).begin()->second.size(), 3u);
  const pid_t ended = second.pid();
  second.end();
  CHECK(!writersOf(path).contains(ended));
}

TEST(takesNoChildThatInheritedTheMappingForAWriter) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  Writer parent(path, 3);
  CHECK(writersOf(path) == std::set<pid_t>{parent.pid()});
  const Writer other(path, 1);
  CHECK(writersOf(path) == (std::set<pid_t>{parent.pid(), other.pid()}));
}

// The parent has ended, so the children write nothing. One of them stands for all.
TEST(takesOrphansOfOneParentForOneWriter) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  Writer parent(path, 3);
  const std::vector<pid_t> children = parent.children();
  parent.end();
  const std::set<pid_t> found = writersOf(path);
  REQUIRE_EQ(found.size(), 1u);
  CHECK(std::count(children.begin(), children.end(), *found.begin()) == 1);
}

// Two writers for a few seconds are a restart. After that the sums may be wrong, also once one of them has ended.
TEST(marksSumsOfTwoWritersThatBothLive) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  const Writer first(path);
  Writer second(path);
  RingState state;
  std::string reason;
  Agent agent(path, RingReader::open(path, false, state, reason), nullptr);
  const auto plan = std::make_shared<const TallyPlan>(TestSource::optionsFor("/", std::chrono::milliseconds(1)).tally);
  const auto slot = agent.acquireTally(plan, false);
  const auto status = [&] {
    AgentStatus seen;
    WaitBudget forEver;
    agent.read(*slot, forEver, [&](const AgentStatus& now, const Tally&) { seen = now; });
    return seen;
  };
  agent.noteWriters({agent.file()}, search(path));
  const auto begin = Clock::now();
  ProcessProbes probes;
  const auto checkAfter = [&](int seconds) {
    probes.beginPass();
    agent.checkLife(begin + std::chrono::seconds(seconds), probes, true);
    return status();
  };
  AgentStatus seen = checkAfter(0);
  CHECK_EQ(seen.writers.size(), 2u);
  CHECK_EQ(seen.pid, second.pid());
  seen = checkAfter(9);
  CHECK(!seen.shared);
  CHECK(!seen.drains.suspect);
  seen = checkAfter(10);
  CHECK(seen.shared);
  CHECK(seen.drains.suspect);
  second.end();
  seen = checkAfter(11);
  CHECK(seen.writers.empty());
  CHECK_EQ(seen.pid, first.pid());
  CHECK(seen.life == Life::kAlive);
  CHECK(seen.shared);
  CHECK(seen.drains.suspect);
}

TEST(takesAShortOverlapForARestart) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  Writer first(path);
  const Writer second(path);
  RingState state;
  std::string reason;
  Agent agent(path, RingReader::open(path, false, state, reason), nullptr);
  const auto plan = std::make_shared<const TallyPlan>(TestSource::optionsFor("/", std::chrono::milliseconds(1)).tally);
  const auto slot = agent.acquireTally(plan, false);
  agent.noteWriters({agent.file()}, search(path));
  const auto begin = Clock::now();
  ProcessProbes probes;
  agent.checkLife(begin, probes, true);
  first.end();
  for (const int seconds : {9, 10, 60}) {
    probes.beginPass();
    agent.checkLife(begin + std::chrono::seconds(seconds), probes, true);
  }
  WaitBudget forEver;
  agent.read(*slot, forEver, [&](const AgentStatus& seen, const Tally&) {
    CHECK_EQ(seen.pid, second.pid());
    CHECK(seen.writers.empty());
    CHECK(!seen.shared);
    CHECK(!seen.drains.suspect);
  });
}

// A ring without a writer in two searches that saw all processes has ended, although its writer was never seen.
TEST(countsAnAgentWithoutAWriterAsEnded) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingState state;
  std::string reason;
  const auto life = [](Agent& agent, const TallySlot& slot) {
    Life seen = Life::kAlive;
    WaitBudget forEver;
    agent.read(slot, forEver, [&](const AgentStatus& now, const Tally&) { seen = now.life; });
    return seen;
  };
  RingWriter writer;
  REQUIRE_EQ(writer.create(path, 4, 16), "");
  Agent agent(path, RingReader::open(path, false, state, reason), nullptr);
  const auto plan = std::make_shared<const TallyPlan>(TestSource::optionsFor("/", std::chrono::milliseconds(1)).tally);
  const auto slot = agent.acquireTally(plan, false);
  const auto search = [&](bool sawAll) { agent.noteWriters({agent.file()}, {}, sawAll); };
  // The writer is one of this process, which a search leaves out. It holds the lock of its file.
  for (int i = 0; i < 3; ++i) search(true);
  CHECK(life(agent, *slot) == Life::kUnknown);
  writer.close();
  for (int i = 0; i < 5; ++i) search(false);  // some processes were invisible
  CHECK(life(agent, *slot) == Life::kUnknown);
  search(true);
  CHECK(life(agent, *slot) == Life::kUnknown);  // its writer may have started during the search
  search(true);
  CHECK(life(agent, *slot) == Life::kDead);
}

// The search sees no process behind the ring, as in another pid namespace. The lock of the file tells of its writer.
TEST(tellsTheLifeOfAnUnseenRingWriterByItsLock) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingState state;
  std::string reason;
  RingWriter writer;
  REQUIRE_EQ(writer.create(path, 4, 16), "");
  Agent agent(path, RingReader::open(path, false, state, reason), nullptr);
  const auto plan = std::make_shared<const TallyPlan>(TestSource::optionsFor("/", std::chrono::milliseconds(1)).tally);
  const auto slot = agent.acquireTally(plan, false);
  ProcessProbes probes;
  const auto life = [&] {
    agent.noteWriters({agent.file()}, {}, false);
    probes.beginPass();
    agent.checkLife(Clock::now(), probes, true);
    Life seen = Life::kUnknown;
    WaitBudget forEver;
    agent.read(*slot, forEver, [&](const AgentStatus& now, const Tally&) { seen = now.life; });
    return seen;
  };
  CHECK(life() == Life::kAlive);
  CHECK(!agent.neverUsed());
  writer.close();
  CHECK(life() == Life::kDead);
  CHECK(life() == Life::kDead);
  RingWriter next;
  REQUIRE_EQ(next.map(path, 4, 16), "");  // its header is still the old one
  CHECK(life() == Life::kAlive);
}

int main() { return check::run("writer_search_test"); }
