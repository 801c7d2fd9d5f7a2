// A consumer with state that is killed at each of its system calls, one after the other. The next consumer must count
// every event once.

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "check.h"
#include "collector/agent.h"
#include "temporary_directory.h"
#include "test_reader.h"

using namespace nixl_otel;

namespace {

constexpr uint64_t kFirst = 20;          // events of the first incarnation, with the values 1 to 20
constexpr uint64_t kSecond = 5;          // events of the second one
constexpr uint64_t kSecondValue = 1000;  // each

std::shared_ptr<const TallyPlan> plan() {
  TallyOptions options;
  options.typeCategories.assign(8, kTransfer);
  return planFor(options);
}

// One agent without the collector's thread, so that a tracer stops the whole consumer.
class Consumer {
 public:
  explicit Consumer(const std::string& path) {
    std::unique_ptr<AgentState> kept;
    RingState state;
    std::string reason;
    auto reader = RingReader::open(path, false, state, reason, std::nullopt, [&](const RingFileId& ring) {
      kept = std::make_unique<AgentState>(path, ring.file, plan());
      return kept->recall(ring);
    });
    if (reader == nullptr) return;
    agent_ = std::make_unique<Agent>(path, std::move(reader), std::move(kept));
    slot_ = agent_->acquireTally(plan(), true);
  }

  // Drains in small chunks until the ring is empty, and once more, so that the last swap is known to have hit.
  void drain() {
    if (agent_ == nullptr) return;
    guardMappings();
    for (int empty = 0; empty < 2;) {
      const Agent::DrainReport report = agent_->drain(7, buffer_, Clock::now(), PausePolicy::kAlways);
      empty += !report.moved && !report.more;
    }
  }

  // As if the search had found no writer, and could not see all processes.
  void search() { agent_->noteWriters({agent_->file()}, {}, false); }
  void checkLife() {
    ProcessProbes probes;
    agent_->checkLife(Clock::now(), probes, false);
  }
  bool isOpen() const { return agent_ != nullptr; }
  EventTally sums() const { return slot_->tally.events()[0]; }
  AgentStatus status() const {
    AgentStatus found;
    WaitBudget forEver;
    agent_->read(*slot_, forEver, [&](const AgentStatus& status, const Tally&) { found = status; });
    return found;
  }
  std::string problem() const {
    std::string reason;
    WaitBudget forEver;
    std::string loss;
    agent_->stateProblem(reason, loss, forEver);
    reason += loss;
    return reason;
  }

 private:
  ChunkBuffer buffer_;
  std::unique_ptr<Agent> agent_;
  std::shared_ptr<TallySlot> slot_;
};

// Runs a consumer in a process of its own and kills it at its system call `last`, before the call or after it. False if
// the process ended before.
bool runUntil(const std::string& path, int last) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    Consumer(path).drain();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  for (int stops = 0; stops < last; ++stops) {
    if (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) std::abort();
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) return false;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return true;
}

// Writes this writer into the state file.
void keepWriter(const std::string& path, const ProcessId& writer, uint64_t pidNamespace) {
  std::string reason;
  const auto file = StateFile::open(path, plan(), reason);
  if (file == nullptr || !file->recovered()) std::abort();
  AgentRecord record = *file->recovered();
  record.writer = writer;
  record.pidNamespace = pidNamespace;
  Tally tally(plan());
  file->restore(tally);
  if (!file->commit(record, tally, reason)) std::abort();
  tally.admitKeys(nullptr);
}

// Makes the ring anew, in the same file if there is one, and pushes the events of the second incarnation.
void restart(RingWriter& ring, const std::string& path) {
  ring.close();
  if (!ring.create(path, 4, 64).empty()) std::abort();
  RingEvent event;
  event.value = kSecondValue;
  for (uint64_t i = 0; i < kSecond; ++i) {
    if (!ring.push(event)) std::abort();
  }
}

// Calls test(path, ring, last) with a new ring for each system call of a consumer, until a test returns false. Under a
// sanitizer, for every fifth one: it makes each call ten times slower, and the deaths are the same.
void atEachCall(const std::function<bool(const std::string&, RingWriter&, int)>& test) {
  constexpr int kStep = check::kSanitized ? 5 : 1;
  int last = 1;
  for (bool died = true; died; last += kStep) {
    const TemporaryDirectory directory;
    RingWriter ring;
    REQUIRE_EQ(ring.create(directory / "agent", 4, 64), std::string());
    push(ring, 1, kFirst);
    died = test(directory / "agent", ring, last);
  }
  CHECK(last > 50);
}

}  // namespace

TEST(countsEachEventOnceOverADeath) {
  atEachCall([](const std::string& path, RingWriter& ring, int last) {
    const bool died = runUntil(path, last);
    push(ring, kFirst + 1, kFirst);
    Consumer next(path);
    REQUIRE(next.isOpen());
    next.drain();
    CHECK_WITH(next.sums().count == 2 * kFirst, std::to_string(last) + ": " + std::to_string(next.sums().count));
    CHECK(next.sums().sum == kFirst * (2 * kFirst + 1));
    CHECK_EQ(next.status().drains.drained, 2 * kFirst);
    CHECK_EQ(next.status().drains.restarts, 0u);
    CHECK_EQ(next.status().drains.foreignMoves, 0u);
    CHECK(!next.status().drains.suspect);
    CHECK_EQ(next.problem(), std::string());
    return died;
  });
}

// Two deaths, the second one at each system call.
TEST(countsEachEventOnceOverTwoDeaths) {
  for (const int first : {40, 60, 80}) {
    atEachCall([&](const std::string& path, RingWriter& ring, int last) {
      runUntil(path, first);
      push(ring, kFirst + 1, kFirst);
      const bool died = runUntil(path, last);
      Consumer next(path);
      REQUIRE(next.isOpen());
      next.drain();
      CHECK_WITH(next.sums().count == 2 * kFirst, std::to_string(last) + ": " + std::to_string(next.sums().count));
      CHECK(!next.status().drains.suspect);
      return died;
    });
  }
}

// The agent restarts after the death. Events of the first incarnation that no consumer had read are lost with it.
TEST(countsWhatADeadConsumerReadOfALostIncarnation) {
  atEachCall([](const std::string& path, RingWriter& ring, int last) {
    const bool died = runUntil(path, last);
    restart(ring, path);
    Consumer next(path);
    REQUIRE(next.isOpen());
    next.drain();
    const uint64_t read = next.sums().count - kSecond;
    CHECK_WITH(read <= kFirst, std::to_string(last));
    CHECK(next.sums().sum == read * (read + 1) / 2 + kSecond * kSecondValue);
    CHECK(!next.status().drains.suspect);
    return died;
  });
}

// The agent restarts before the death.
TEST(countsARestartOnceOverADeath) {
  atEachCall([](const std::string& path, RingWriter& ring, int last) {
    runUntil(path, INT32_MAX);
    restart(ring, path);
    const bool died = runUntil(path, last);
    Consumer next(path);
    REQUIRE(next.isOpen());
    next.drain();
    CHECK_EQ(next.sums().count, kFirst + kSecond);
    CHECK_WITH(next.status().drains.restarts == 1, std::to_string(last));
    CHECK(!next.status().drains.suspect);
    return died;
  });
}

// The file is another one. The sums go on.
TEST(countsAReplacementOnceOverADeath) {
  atEachCall([](const std::string& path, RingWriter& ring, int last) {
    runUntil(path, INT32_MAX);
    ::unlink(path.c_str());
    restart(ring, path);
    const bool died = runUntil(path, last);
    Consumer next(path);
    REQUIRE(next.isOpen());
    next.drain();
    CHECK_EQ(next.sums().count, kFirst + kSecond);
    CHECK_WITH(next.status().drains.restarts == 1, std::to_string(last));
    return died;
  });
}

// After the death the agent came back with a smaller ring, and a consumer without state was killed in its turn.
TEST(keepsTheSumsOverADeathAfterAConsumerWithoutState) {
  atEachCall([](const std::string& path, RingWriter& ring, int last) {
    runUntil(path, INT32_MAX);
    ring.close();
    REQUIRE_EQ(ring.create(path, 4, 16), std::string());
    push(ring, 1, kSecond);
    store(path, kHeaderA.expectedVersion, makeMark(7));
    const bool died = runUntil(path, last);
    Consumer next(path);
    REQUIRE(next.isOpen());
    next.drain();
    CHECK_WITH(next.problem().empty(), std::to_string(last) + ": " + next.problem());
    CHECK_EQ(next.sums().count, kFirst + kSecond);
    CHECK(next.status().drains.suspect);
    return died;
  });
}

// The writer that the last consumer saw has a pid that means another process, or none, to this consumer. Its life is
// unknown until its lock tells it.
TEST(showsNoPidOfAnotherPidNamespace) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter ring;
  REQUIRE_EQ(ring.create(path, 4, 64), std::string());
  push(ring, 1, 1);
  runUntil(path, INT32_MAX);
  for (const uint64_t space : {ownPidNamespace(), ownPidNamespace() + 1}) {
    keepWriter(path, {::getpid(), processStartTime(::getpid())}, space);
    for (int consumers = 0; consumers < 2; ++consumers) {
      Consumer next(path);
      REQUIRE(next.isOpen());
      next.drain();
      CHECK_EQ(next.status().pid, space == ownPidNamespace() ? ::getpid() : 0);
      CHECK(next.status().life == (space == ownPidNamespace() ? Life::kAlive : Life::kUnknown));
      // A search that could not see all processes proves no end. Then the lock of the writer tells of its life.
      next.search();
      CHECK(next.status().life == (space == ownPidNamespace() ? Life::kAlive : Life::kUnknown));
      next.checkLife();
      CHECK(next.status().life == Life::kAlive);
    }
  }
}

// Another process has got the pid of the writer that the last consumer saw.
TEST(showsNoPidThatAnotherProcessHasGot) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter ring;
  REQUIRE_EQ(ring.create(path, 4, 64), std::string());
  push(ring, 1, 1);
  runUntil(path, INT32_MAX);
  keepWriter(path, {::getpid(), processStartTime(::getpid()) - 1}, ownPidNamespace());
  Consumer next(path);
  REQUIRE(next.isOpen());
  CHECK_EQ(next.status().pid, 0);
  CHECK(next.status().life == Life::kDead);
}

int main() { return check::run("state_deaths_test"); }
