// Removal of rings whose agents have ended: what stays, and a death at each step.

#include "state/ended_ring.h"

#include <dlfcn.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include "check.h"
#include "state/state_folder.h"
#include "temporary_directory.h"
#include "test_reader.h"
#include "test_source.h"

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

const char* const kFresh = "0b9e8d6c-1f2a-4c3b-9d4e-5f6071829304";

// Steps of the removal that change the disk: this process dies before the first one that is left.
int stepsLeft = -1;
int (*realUnlinkat)(int, const char*, int) = nullptr;

void dieIfDue() {
  if (stepsLeft == 0) ::_exit(9);
  if (stepsLeft > 0) --stepsLeft;
}

RemovalRule freshOnly(milliseconds stateTtl = milliseconds(0)) { return {FreshNames{"", "hicache_nixl_"}, stateTtl}; }

SourceOptions keepingState(const std::string& directory) {
  SourceOptions options = TestSource::optionsFor(directory, milliseconds(0));
  options.state = true;
  return options;
}

struct Seen {
  explicit Seen(const std::string& at) : path(at), file(*fileAt(at)), header(peekHeader(at, file)) {}
  std::string remove(const RemovalRule& rule) const { return removeEndedRing(path, file, header, rule); }
  std::string path;
  FileId file;
  HeaderFields header;
};

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string stateOf(const std::string& directory, const std::string& name) { return directory + "/.nixl-otel/" + name; }

// Runs a consumer with state in a process that is killed after it has counted 10 events of the ring.
void countAndDie(const TemporaryDirectory& directory, const std::string& name) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    TestSource source(keepingState(directory.path));
    waitUntil([&] { return source.counted(name) == 10; });
    ::_exit(0);  // without close(): the state stays
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  CHECK_EQ(status, 0);
}

// Makes a ring with 10 events, of an agent that has ended.
void leaveRing(const std::string& path) {
  RingWriter ring;
  REQUIRE_EQ(ring.create(path, 4, 64), std::string());
  push(ring, 1, 10);
  ring.close();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int unlinkat(int directory, const char* name, int flags) noexcept {
  if (realUnlinkat == nullptr) {
    realUnlinkat = reinterpret_cast<int (*)(int, const char*, int)>(::dlsym(RTLD_NEXT, "unlinkat"));
  }
  dieIfDue();
  const int result = realUnlinkat(directory, name, flags);
  dieIfDue();
  return result;
}

TEST(knowsNamesThatNoAgentHasTwice) {
  const FreshNames beginnings{"", "hicache_nixl_"};
  const std::string fresh = kFresh;
  CHECK(isFreshName(fresh, beginnings));
  CHECK(isFreshName("hicache_nixl_" + fresh, beginnings));
  for (const std::string& other : {std::string(), std::string("decode-0"), std::string("sender_") + fresh, fresh + "0",
                                   fresh.substr(1), std::string(36, 'a'), "decode-" + fresh}) {
    CHECK(!isFreshName(other, beginnings));
  }
}

TEST(removesOnlyEmptyFreeUnchangedRings) {
  const TemporaryDirectory directory;
  const std::string path = directory / kFresh;
  leaveRing(path);
  CHECK_EQ(Seen(path).remove(freshOnly()), std::string("10 events in it wait for a consumer"));
  countAndDie(directory, kFresh);
  const Seen seen(path);
  const std::string kept = seen.remove(freshOnly(std::chrono::hours(1)));
  CHECK_EQ(kept, std::string("its counts are kept for the next serve until it has had no event for 3600 s"));
  RemovalRule trial = freshOnly();
  trial.dryRun = true;
  CHECK_EQ(seen.remove(trial), std::string());
  {
    const FileDescriptor other(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
    CHECK_EQ(seen.remove(freshOnly()), std::string("another consumer holds its lock"));
  }
  {
    const FileDescriptor other(::open(stateOf(directory.path, kFresh).c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
    CHECK_EQ(seen.remove(freshOnly()), std::string(kStateIsLocked));
  }
  {
    RingWriter again;
    REQUIRE_EQ(again.create(path, 4, 64), std::string());
    CHECK_EQ(seen.remove(freshOnly()), std::string("it changes"));
    CHECK_EQ(Seen(path).remove(freshOnly()), std::string("a process has it open for writing"));
  }
  CHECK_EQ(seen.remove(freshOnly()), std::string("it changes"));
  CHECK(exists(path) && exists(stateOf(directory.path, kFresh)));
  CHECK_EQ(Seen(path).remove(freshOnly()), std::string());
  CHECK(!exists(path) && !exists(stateOf(directory.path, kFresh)));
}

TEST(leavesNamesThatAnAgentMayOpenAgainUnlessForced) {
  const TemporaryDirectory directory;
  const std::string path = directory / "decode-0";
  RingWriter ring;
  REQUIRE_EQ(ring.create(path, 4, 64), std::string());
  ring.close();
  CHECK_EQ(Seen(path).remove(freshOnly()),
           std::string("its name is not a new UUID of an engine: an agent may open it again"));
  CHECK_EQ(Seen(path).remove({}), std::string());
  CHECK(!exists(path));
}

// Two removals, and a death before or after each: the next consumer counts each event once, and the state goes with its
// ring.
TEST(losesAndRepeatsNothingAfterADeathAtAnyStep) {
  for (int steps = 0; steps < 5; ++steps) {
    const TemporaryDirectory directory;
    const std::string path = directory / kFresh;
    leaveRing(path);
    leaveRing(directory / "other");
    countAndDie(directory, kFresh);
    const pid_t pid = ::fork();
    if (pid == 0) {
      const Seen seen(path);
      stepsLeft = steps;
      ::_exit(seen.remove(freshOnly()).empty() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    CHECK_EQ(WEXITSTATUS(status), steps < 4 ? 9 : 0);
    CHECK_EQ(exists(path), steps == 0);
    CHECK_EQ(exists(stateOf(directory.path, kFresh)), steps < 3);
    SourceOptions options = keepingState(directory.path);
    options.deadTtl = std::chrono::hours(1);
    {
      TestSource next(options);
      waitUntil([&] { return next.counted("other") == 10; });
      CHECK_EQ(next.counted(kFresh), uint64_t{steps == 0 ? 10u : 0u});
    }
    std::set<std::string> gone;
    removeOrphanedState(directory.path, {}, gone);
    removeOrphanedState(directory.path, std::exchange(gone, {}), gone);
    CHECK_EQ(exists(stateOf(directory.path, kFresh)), steps == 0);
  }
}

TEST(collectorRemovesRingsOfAgentsThatItSawEnd) {
  const TemporaryDirectory directory;
  SourceOptions options = keepingState(directory.path);
  options.removeEndedAfter = milliseconds(1);
  options.freshNames = {""};
  const std::string unseen = "1b9e8d6c-1f2a-4c3b-9d4e-5f6071829304";
  const std::string living = "2b9e8d6c-1f2a-4c3b-9d4e-5f6071829304";
  {
    RingWriter ring(WriterLock::kNone);  // of an agent whose process is not seen
    REQUIRE_EQ(ring.create(directory / unseen, 4, 64), std::string());
  }
  AgentProcess fresh(directory / kFresh);
  AgentProcess named(directory / "decode-0");
  AgentProcess alive(directory / living);
  TestSource source(options);  // after the forks: a child would have its mappings
  for (AgentProcess* agent : {&fresh, &named, &alive}) agent->write(10);
  waitUntil([&] { return source.counted() == 30 && source.alive(kFresh) && source.alive("decode-0"); });
  fresh.kill();
  named.kill();
  waitUntil([&] { return source.agents() < 4 && !exists(directory / kFresh); });
  waitUntil([&] { return !source.alive("decode-0"); });
  waitForTicks(200, [&] { source.agents(); });
  CHECK(exists(directory / "decode-0") && exists(directory / unseen) && exists(directory / living));
  CHECK(!exists(stateOf(directory.path, kFresh)));
  alive.write(5);
  waitUntil([&] { return source.counted(living) == 15; });
}

TEST(collectorRemovesNothingByItself) {
  const TemporaryDirectory directory;
  AgentProcess fresh(directory / kFresh);
  TestSource source(keepingState(directory.path));
  fresh.write(10);
  waitUntil([&] { return source.counted() == 10 && source.alive(kFresh); });
  fresh.kill();
  waitUntil([&] { return source.agents() == 0; });
  waitForTicks(100);
  CHECK(exists(directory / kFresh));
}

int main() { return check::run("ended_ring_test"); }
