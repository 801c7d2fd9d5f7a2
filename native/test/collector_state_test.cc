// The collector with state: counts after the end of the process that kept them, and the state files.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <functional>

#include "check.h"
#include "state/state_file.h"
#include "temporary_directory.h"
#include "test_reader.h"
#include "test_source.h"

// Replaces a function of the C library in the whole program: no file is young.
extern "C" __attribute__((visibility("default"))) int stat(const char* path, struct stat* info) noexcept {
  const int result = ::fstatat(AT_FDCWD, path, info, 0);
  if (result == 0) info->st_ctim.tv_sec -= 3600;
  return result;
}

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

SourceOptions optionsFor(const std::string& directory, milliseconds deadTtl = milliseconds(30'000)) {
  SourceOptions options = TestSource::optionsFor(directory, deadTtl);
  options.state = true;
  return options;
}

// A consumer in a separate process, which kill() ends at any place.
class ConsumerProcess {
 public:
  explicit ConsumerProcess(const SourceOptions& options) {
    int questions[2];
    int answers[2];
    if (::pipe(questions) != 0 || ::pipe(answers) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(questions[1]);
      TestSource source(options);
      uint64_t counted = 0;
      char question = 0;
      while (::read(questions[0], &question, 1) == 1) {
        counted = question == 'c' ? source.counted() : source.status("agent").pid != 0;
        if (::write(answers[1], &counted, sizeof counted) != sizeof counted) break;
      }
      ::_exit(0);
    }
    ::close(questions[0]);
    ::close(answers[1]);
    questions_ = questions[1];
    answers_ = answers[0];
  }
  ~ConsumerProcess() { kill(); }
  uint64_t counted() { return ask('c'); }
  // A ring's lock tells of a life before a search has found the process.
  bool hasFoundWriter() { return ask('w') != 0; }
  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(questions_);
    ::close(answers_);
    pid_ = 0;
  }

 private:
  uint64_t ask(char question) {
    uint64_t answer = 0;
    if (::write(questions_, &question, 1) != 1) std::abort();
    if (::read(answers_, &answer, sizeof answer) != sizeof answer) std::abort();
    return answer;
  }
  pid_t pid_ = 0;
  int questions_ = -1;
  int answers_ = -1;
};

struct Rings {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  const std::string folder = directory / ".nixl-otel";
  const std::string file = folder + "/agent";

  bool hasFile() const { return ::access(file.c_str(), F_OK) == 0; }
};

// Status and recovered sums of the only agent.
struct Seen {
  explicit Seen(TestSource& source) {
    source.snapshot([&](const SourceAgent& agent, const AgentStatus& now, const Tally& tally) {
      status = now;
      attributes = now.keptAttributes;
      id = tally.id();
      startTimeMs = tally.startTimeMs();
      memory = static_cast<uint64_t>(tally.memoryInUse());
      approximate = tally.memoryApproximate();
      if (agent.slot->recovered == nullptr) return;
      recoveredDrains = agent.slot->recovered->drains;
      recoveredFullMs = agent.slot->recovered->fullMs;
      for (const EventTally& event : agent.slot->recovered->tally.events()) recovered += event.count;
    });
  }
  AgentStatus status;
  std::string attributes;
  uint64_t id = 0;
  double startTimeMs = 0;
  uint64_t memory = 0;
  bool approximate = false;
  uint64_t recovered = 0;
  DrainStats recoveredDrains;
  double recoveredFullMs = 0;
};

std::string stateProblem(TestSource& source) {
  std::string text;
  for (const StateProblem& one : source.report().stateProblems) text += one.path + ": " + one.reason;
  return text;
}

void pushMemory(RingWriter& ring, uint64_t bytes) {
  RingEvent event;
  event.type = kMemoryRegistered;
  event.value = bytes;
  if (!ring.push(event)) std::abort();
}

}  // namespace

TEST(continuesAfterAKill) {
  const Rings rings;
  RingWriter ring;
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  pushMemory(ring, 4096);
  ConsumerProcess first(optionsFor(rings.directory.path));
  waitUntil([&] { return first.counted() == 1; });
  push(ring, 1, 9);
  waitUntil([&] { return first.counted() == 10; });
  first.kill();
  push(ring, 10, 7);
  TestSource next(optionsFor(rings.directory.path));
  waitUntil([&] { return next.counted() == 17; });
  const Seen seen(next);
  CHECK(seen.status.recovered);
  CHECK_EQ(seen.recovered, 10u);
  CHECK_EQ(seen.recoveredDrains.drained, 10u);
  CHECK_EQ(seen.memory, 4096u);
  CHECK(!seen.approximate);
  CHECK_EQ(seen.status.drains.drained, 17u);
  CHECK_EQ(seen.status.drains.restarts, 0u);
  CHECK(!seen.status.drains.suspect);
  CHECK_EQ(stateProblem(next), std::string());
}

TEST(continuesAfterAnEndAndAnotherOne) {
  const Rings rings;
  RingWriter ring;
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  double startTimeMs = 0;
  for (uint64_t round = 1; round <= 4; ++round) {
    TestSource source(optionsFor(rings.directory.path));
    push(ring, 1, 10);
    waitUntil([&] { return source.counted() == 10 * round; });
    const Seen seen(source);
    if (round == 1) startTimeMs = seen.startTimeMs;
    CHECK(seen.startTimeMs == startTimeMs);
    CHECK_EQ(seen.status.drains.restarts, 0u);
    CHECK_EQ(seen.attributes, round == 1 ? "" : std::to_string(round - 1));
    Collector::instance().keepAttributes(source.handle, seen.id, std::to_string(round));
  }
  CHECK(isStateMark(load<int32_t>(rings.path, 20)));
}

TEST(restoresEachNanosecond) {
  for (int64_t ns = 0; ns < 100'000; ++ns) {
    const Clock::duration time{ns * 7919};
    REQUIRE_EQ(fromMs(toMs(time)).count(), time.count());
  }
}

TEST(continuesTimesOfAnAgent) {
  const Rings rings;
  RingWriter ring;
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  Seen last = [&] {
    TestSource source(optionsFor(rings.directory.path));
    uint64_t pushed = 0;
    const auto pushUntilFull = [&] {
      while (ring.push({})) ++pushed;
      return Seen(source).status.fullMs != 0;
    };
    waitUntil(pushUntilFull);
    waitUntil([&] { return source.counted() == pushed; });
    return Seen(source);
  }();
  CHECK(last.status.lastEventMs != 0);
  TestSource next(optionsFor(rings.directory.path));
  waitUntil([&] { return next.agents() == 1; });
  const Seen seen(next);
  CHECK(seen.status.fullMs == last.status.fullMs);
  CHECK(seen.recoveredFullMs == last.status.fullMs);
  CHECK(seen.status.lastEventMs == last.status.lastEventMs);
}

// A consumer without state took events in between: the sums go on without them, and it can be seen.
TEST(noticesAConsumerWithoutStateInBetween) {
  const Rings rings;
  RingWriter ring;
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  push(ring, 1, 10);
  {
    TestSource source(optionsFor(rings.directory.path));
    waitUntil([&] { return source.counted() == 10; });
  }
  push(ring, 11, 5);
  {
    TestSource source(rings.directory.path);
    waitUntil([&] { return source.counted() == 5; });
    CHECK(!Seen(source).status.recovered);
  }
  waitUntil([&] { return !isHeld(rings.path, *fileAt(rings.path)); });  // close() may end before its thread
  push(ring, 16, 5);
  TestSource source(optionsFor(rings.directory.path));
  waitUntil([&] { return source.counted() == 15; });
  const DrainStats drains = Seen(source).status.drains;
  CHECK(drains.suspect || drains.restarts == 1);
}

TEST(countsRestartsAndReplacementsOfAnAgentThatNobodyWatched) {
  const Rings rings;
  RingWriter ring;
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  pushMemory(ring, 4096);
  uint64_t expected = 1;
  for (uint32_t round = 1; round <= 6; ++round) {
    {
      TestSource source(optionsFor(rings.directory.path));
      waitUntil([&] { return source.counted() == expected; });
      CHECK_EQ(Seen(source).status.drains.restarts, round - 1);
      CHECK_EQ(Seen(source).memory, round == 1 ? 4096u : 0u);
    }
    ring.close();
    if (round % 2 == 0) ::unlink(rings.path.c_str());
    REQUIRE_EQ(ring.create(rings.path, 4, round % 3 == 0 ? 128 : 64), std::string());
    push(ring, 1, round);
    expected += round;
  }
}

// There is no state file before the first event.
TEST(continuesARestartBeforeTheFirstEvent) {
  const Rings rings;
  AgentProcess agent(rings.path);
  ConsumerProcess first(optionsFor(rings.directory.path));
  waitUntil([&] { return first.hasFoundWriter(); });
  agent.kill();
  RingWriter ring;
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  // The file alone is not enough: it is made before its first commit.
  waitUntil([&] { return readState(rings.path).has_value(); });
  first.kill();
  push(ring, 1, 1);
  TestSource next(optionsFor(rings.directory.path));
  waitUntil([&] { return next.counted() == 1; });
  CHECK_EQ(Seen(next).status.drains.restarts, 1u);
}

// Both files are open. The writer of the first one has not ended.
TEST(continuesAnAgentWithAReplacedFile) {
  const Rings rings;
  RingWriter first;
  RingWriter second;
  REQUIRE_EQ(first.create(rings.path, 4, 64), std::string());
  push(first, 1, 10);
  ConsumerProcess consumer(optionsFor(rings.directory.path));
  waitUntil([&] { return consumer.counted() == 10; });
  ::unlink(rings.path.c_str());
  REQUIRE_EQ(second.create(rings.path, 4, 64), std::string());
  push(second, 1, 5);
  push(first, 11, 5);
  waitUntil([&] { return consumer.counted() == 20; });
  push(second, 6, 5);
  waitUntil([&] { return consumer.counted() == 25; });
  consumer.kill();
  push(second, 11, 5);
  TestSource next(optionsFor(rings.directory.path));
  waitUntil([&] { return next.counted() == 30; });
  const Seen seen(next);
  CHECK_EQ(seen.status.drains.drained, 30u);
  CHECK_EQ(seen.status.drains.restarts, 1u);
  CHECK_EQ(seen.recoveredDrains.restarts, 1u);
  CHECK_EQ(seen.recoveredDrains.drained, 25u);
  CHECK(!seen.status.drains.suspect);
}

// The consumer closes replaced rings that are empty, once there are many. Their events count once.
TEST(countsClosedRingsOnce) {
  const Rings rings;
  constexpr uint64_t kFiles = 8;
  {
    TestSource source(optionsFor(rings.directory.path));
    for (uint64_t files = 1; files <= kFiles; ++files) {
      ::unlink(rings.path.c_str());
      RingWriter ring;
      REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
      push(ring, 1, 10);
      waitUntil([&] { return source.counted() == 10 * files; });
    }
  }
  TestSource next(optionsFor(rings.directory.path));
  waitUntil([&] { return next.counted() == 10 * kFiles; });
  const Seen seen(next);
  CHECK_EQ(seen.status.drains.drained, 10 * kFiles);
  CHECK_EQ(seen.status.drains.restarts, kFiles - 1);
}

TEST(exportsAnAgentThatDiedMeanwhileForItsTtl) {
  const Rings rings;
  AgentProcess agent(rings.path);
  ConsumerProcess first(optionsFor(rings.directory.path));
  agent.write(10);
  waitUntil([&] { return first.counted() == 10 && first.hasFoundWriter(); });
  agent.write(5);  // after the writer was found: the file tells of it
  waitUntil([&] { return first.counted() == 15; });
  first.kill();
  agent.write(5);
  agent.kill();
  {
    TestSource next(optionsFor(rings.directory.path, milliseconds(0)));
    const uint32_t reader = Collector::instance().addReader(next.handle);  // keeps the last values
    waitUntil([&] { return next.counted() == 20 && next.status("agent").life == Life::kDead; });
    CHECK(next.status("agent").exported);
    CHECK(rings.hasFile());
    Collector::instance().removeReader(next.handle, reader);
    waitUntil([&] { return next.agents() == 0; });
    CHECK(!rings.hasFile());
    CHECK_EQ(load<int32_t>(rings.path, 20), 4);  // the mark went with the file
  }
  TestSource last(optionsFor(rings.directory.path));
  waitUntil([&] { return last.agents() == 0 && last.report().places.front().hadRings; });
  CHECK(!rings.hasFile());
}

// The last consumer saw the writer in another PID namespace: a process of this one with that pid is not it, and it may
// live, so its state stays for its next event.
TEST(letsGoOfAnAgentOfAnotherPidNamespaceAndKeepsItsState) {
  const Rings rings;
  SourceOptions options = optionsFor(rings.directory.path, milliseconds(0));
  {
    RingWriter ring;
    REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
    push(ring, 1, 10);
    TestSource source(optionsFor(rings.directory.path));
    waitUntil([&] { return source.counted() == 10; });
  }
  waitUntil([&] { return !isHeld(rings.path, *fileAt(rings.path)); });  // close() may end before its thread
  {
    std::string reason;
    const auto file = StateFile::open(rings.path, planFor(options.tally), reason);
    REQUIRE(file != nullptr && file->recovered());
    AgentRecord record = *file->recovered();
    record.writer = {::getpid(), processStartTime(::getpid())};
    record.pidNamespace = ownPidNamespace() + 1;
    Tally tally(planFor(options.tally));
    file->restore(tally);
    REQUIRE(file->commit(record, tally, reason));
    tally.admitKeys(nullptr);
  }
  TestSource next(options);
  waitUntil([&] { return next.counted() == 10; });
  waitUntil([&] { return next.agents() == 0; });
  CHECK(rings.hasFile());
}

// No process was ever seen to write the ring, as from within a container. NIXL takes no lock.
TEST(letsGoOfAnUnknownAgentAndContinuesIt) {
  const Rings rings;
  RingWriter ring(WriterLock::kNone);
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  push(ring, 1, 10);
  {
    TestSource source(optionsFor(rings.directory.path));
    waitUntil([&] { return source.counted() == 10; });
  }
  TestSource next(optionsFor(rings.directory.path, milliseconds(0)));
  waitUntil([&] { return next.agents() == 1 && next.status("agent").exported; });
  waitUntil([&] { return next.agents() == 0; });
  CHECK(rings.hasFile());
  push(ring, 11, 5);
  waitUntil([&] { return next.counted() == 15; });
  CHECK_EQ(Seen(next).status.drains.restarts, 0u);
  CHECK_EQ(Seen(next).status.drains.foreignMoves, 0u);
  CHECK(!Seen(next).status.drains.suspect);
  // Since its event it is an agent of this process, which has no limit for idle ones.
  waitForTicks(600);  // the collector checks lives twice a second
  CHECK_EQ(next.agents(), 1u);
}

// A ring with state takes two descriptors: together they take at most half of those of the process.
TEST(limitsRingsWithStateToAQuarterOfTheDescriptors) {
  const Rings rings;
  constexpr size_t kRings = 20;
  for (size_t i = 0; i < kRings; ++i) {
    RingWriter ring;
    REQUIRE_EQ(ring.create(rings.directory / std::to_string(i), 4, 4), std::string());
    push(ring, 1, 2);
  }
  rlimit before;
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{64, before.rlim_max};
  REQUIRE_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  TestSource source(optionsFor(rings.directory.path));
  source.drain();
  CHECK_EQ(source.agents(), 16u);
  CHECK_EQ(stateProblem(source), std::string());
  const auto problems = source.problems();
  CHECK_EQ(problems.size(), kRings - 16);
  CHECK_WITH(problems.front().reason.find("each ring has a state file") != std::string::npos, problems.front().reason);
  REQUIRE_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  waitUntil([&] { return source.counted() == 2 * kRings; });
}

TEST(leavesNoFileOfARingThatIsNeverUsed) {
  const Rings rings;
  {
    RingWriter ring;
    REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  }
  TestSource source(optionsFor(rings.directory.path));
  waitUntil([&] { return source.agents() == 1; });
  waitUntil([&] { return source.agents() == 0; });
  CHECK(::access(rings.folder.c_str(), F_OK) != 0);
}

TEST(removesTheFilesOfRingsThatAreGone) {
  const Rings rings;
  {
    RingWriter ring;
    REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
    push(ring, 1, 10);
    TestSource source(optionsFor(rings.directory.path));
    waitUntil([&] { return source.counted() == 10; });
  }
  ::unlink(rings.path.c_str());
  TestSource source(rings.directory.path);
  waitForTicks(100);
  CHECK(rings.hasFile());  // a source without state touches none
  {
    TestSource next(optionsFor(rings.directory.path));
    waitForTicks(3);
    CHECK(rings.hasFile());  // an agent may be about to make its ring anew
  }
  TestSource later(optionsFor(rings.directory.path));
  waitUntil([&] { return !rings.hasFile(); });
}

TEST(continuesWithOtherBounds) {
  const Rings rings;
  RingWriter ring;
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  push(ring, 1, 10);
  ConsumerProcess first(optionsFor(rings.directory.path));
  waitUntil([&] { return first.counted() == 10; });
  first.kill();
  push(ring, 11, 5);
  SourceOptions options = optionsFor(rings.directory.path);
  options.tally.bounds = {{1, 2}};
  TestSource next(options);
  waitUntil([&] { return next.counted() == 15; });
  CHECK_EQ(stateProblem(next), std::string());
  const Seen seen(next);
  CHECK(seen.status.recovered);
  CHECK_EQ(seen.status.drains.drained, 15u);
  CHECK(!seen.status.drains.suspect);
}

TEST(keepsTheSumsOfTheFirstSourceWithState) {
  const Rings rings;
  AgentProcess agent(rings.path);
  SourceOptions other = optionsFor(rings.directory.path);
  other.tally.bounds = {{1, 2}};
  {
    TestSource source(optionsFor(rings.directory.path));
    waitUntil([&] { return source.agents() == 1; });
    TestSource without(rings.directory.path);
    TestSource second(other);
    waitUntil([&] { return without.agents() == 1 && second.agents() == 1; });
    agent.write(10);
    waitUntil([&] { return source.counted() == 10 && without.counted() == 10 && second.counted() == 10; });
    CHECK_EQ(stateProblem(source) + stateProblem(without), std::string());
    CHECK_WITH(stateProblem(second).find("another source") != std::string::npos, stateProblem(second));
  }
  agent.write(5);
  TestSource without(rings.directory.path);
  TestSource source(optionsFor(rings.directory.path));
  // The ring is opened for one of them. The one without state begins at 0 in both cases.
  waitUntil([&] { return without.counted() == 5; });
  CHECK(!Seen(without).status.recovered);
}

// The sums of the file go on while another source keeps the ring open.
TEST(goesOnKeepingTheSumsOfASourceThatWasClosed) {
  const Rings rings;
  AgentProcess agent(rings.path);
  {
    auto source = std::make_unique<TestSource>(optionsFor(rings.directory.path));
    waitUntil([&] { return source->agents() == 1; });
    TestSource without(rings.directory.path);
    waitUntil([&] { return without.agents() == 1; });
    agent.write(10);
    waitUntil([&] { return source->counted() == 10 && without.counted() == 10; });
    source = nullptr;
    agent.write(5);
    waitUntil([&] { return without.counted() == 15; });
  }
  TestSource source(optionsFor(rings.directory.path));
  waitUntil([&] { return source.counted() == 15; });
  CHECK(!Seen(source).status.drains.suspect);
}

TEST(countsOnWhateverHappensToTheFile) {
  const std::pair<const char*, std::function<void(const Rings&)>> harms[] = {
      {"removed", [](const Rings& rings) { ::unlink(rings.file.c_str()); }},
      {"truncated", [](const Rings& rings) { REQUIRE_EQ(::truncate(rings.file.c_str(), 0), 0); }},
      {"cut", [](const Rings& rings) { REQUIRE_EQ(::truncate(rings.file.c_str(), 300), 0); }},
      {"unreadable", [](const Rings& rings) { REQUIRE_EQ(::chmod(rings.file.c_str(), 0), 0); }},
      {"replaced",
       [](const Rings& rings) {
         Image(5000).writeTo(rings.file + "2");
         ::rename((rings.file + "2").c_str(), rings.file.c_str());
       }},
      {"overwritten", [](const Rings& rings) { Image(5000).writeTo(rings.file); }},
      {"without a folder", [](const Rings& rings) { std::filesystem::remove_all(rings.folder); }},
  };
  for (const auto& [name, harm] : harms) {
    const Rings rings;
    RingWriter ring;
    REQUIRE_EQ(ring.create(rings.path, 4, 1024), std::string());
    uint64_t expected = 0;
    const auto pushMore = [&] {
      push(ring, 1, 10);
      expected += 10;
    };
    {
      TestSource source(optionsFor(rings.directory.path));
      pushMore();
      waitUntil([&] { return source.counted() == expected; });
      harm(rings);
      for (int more = 0; more < 5; ++more) {
        pushMore();
        waitUntil([&] { return source.counted() == expected; });
      }
      CHECK_EQ(Seen(source).status.drains.drained, expected);
    }
    // Whatever the next one finds, it counts what comes from now on.
    TestSource next(optionsFor(rings.directory.path));
    waitUntil([&] { return next.agents() == 1; });
    const uint64_t begin = next.counted();
    CHECK_WITH(begin == 0 || begin == expected, name);
    pushMore();
    waitUntil([&] { return next.counted() == begin + 10; });
  }
}

TEST(makesAFileAgainThatWasRemoved) {
  const Rings rings;
  RingWriter ring;
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  push(ring, 1, 10);
  {
    TestSource source(optionsFor(rings.directory.path));
    waitUntil([&] { return source.counted() == 10; });
    ::unlink(rings.file.c_str());
    waitUntil([&] { return rings.hasFile(); });
    CHECK_EQ(stateProblem(source), std::string());
  }
  TestSource next(optionsFor(rings.directory.path));
  waitUntil([&] { return next.counted() == 10; });
}

TEST(leavesAStateFileThatTookTheNameOfItsOwn) {
  const Rings rings;
  RingWriter ring;
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  push(ring, 1, 10);
  TestSource source(optionsFor(rings.directory.path));
  waitUntil([&] { return source.counted() == 10; });
  std::filesystem::copy_file(rings.file, rings.directory / "copy");
  std::filesystem::rename(rings.directory / "copy", rings.file);
  const auto other = fileAt(rings.file);
  waitUntil([&] { return !stateProblem(source).empty(); });
  CHECK_EQ(stateProblem(source), rings.path + ": another state file has its name");
  CHECK(fileAt(rings.file) == other);
  push(ring, 11, 5);
  waitUntil([&] { return source.counted() == 15; });
}

// A folder that is not ours, and a mark of a consumer without state, which it takes away.
TEST(drainsWithoutAStateThatCannotBeHad) {
  const Rings rings;
  RingWriter ring;
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  REQUIRE_EQ(::mkdir(rings.folder.c_str(), 0755), 0);
  push(ring, 1, 10);
  {
    TestSource source(optionsFor(rings.directory.path));
    waitUntil([&] { return source.counted() == 10; });
    CHECK_EQ(stateProblem(source), rings.path + ": its folder .nixl-otel is refused: its mode is 0755, not 0700");
    CHECK(!isStateMark(load<int32_t>(rings.path, 20)));
  }
  waitUntil([&] { return !isHeld(rings.path, *fileAt(rings.path)); });  // close() may end before its thread
}

// Another process uses the state file: it drains another file of this path, or it is being killed.
TEST(waitsForAStateFileThatIsLocked) {
  const Rings rings;
  RingWriter ring;
  REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
  push(ring, 1, 10);
  {
    TestSource source(optionsFor(rings.directory.path));
    waitUntil([&] { return source.counted() == 10; });
  }
  push(ring, 11, 5);
  for (const bool isFreed : {true, false}) {
    const int fd = ::open(rings.file.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
    TestSource source(optionsFor(rings.directory.path));
    waitUntil([&] { return !source.problem().empty(); });
    CHECK_EQ(source.problem(), std::string("busy: another process holds the lock of its state file"));
    if (isFreed) {
      ::close(fd);
      waitUntil([&] { return source.counted() == 15; });
      continue;
    }
    push(ring, 16, 5);
    waitUntil([&] { return source.counted() == 5; });
    CHECK_EQ(stateProblem(source), rings.path + ": another process holds the lock of its state file");
    ::close(fd);
  }
}

// An agent that makes its file anew removes the old one first: its ring is absent when the next consumer looks.
TEST(goesOnWithAnAgentWhoseRingIsAbsentForAMoment) {
  const Rings rings;
  for (const uint64_t expected : {10u, 20u}) {
    ::unlink(rings.path.c_str());
    ConsumerProcess consumer(optionsFor(rings.directory.path));
    consumer.counted();
    RingWriter ring;
    REQUIRE_EQ(ring.create(rings.path, 4, 64), std::string());
    push(ring, 1, 10);
    waitUntil([&] { return ring.pending() == 0; });
    CHECK_EQ(consumer.counted(), expected);
    consumer.kill();
  }
}

int main() { return check::run("collector_state_test"); }
