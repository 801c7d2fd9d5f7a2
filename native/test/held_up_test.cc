// Calls while the collector's thread is held up, as by a disk that does not answer. The thread waits either for a
// directory, with collectorMutex held, or for a ring, with the agent's mutex held.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <atomic>

#include "check.h"
#include "temporary_directory.h"
#include "test_source.h"

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

enum class HoldPoint { kNone, kDirectory, kFirst, kSecond };
std::atomic<HoldPoint> holdPoint{HoldPoint::kNone};
std::atomic<HoldPoint> heldAt{HoldPoint::kNone};

bool isCollectorsThread() {
  char name[16] = "";
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  return std::string(name) == "nixl-otel";
}

void holdIfAt(HoldPoint here) {
  if (holdPoint != here || !isCollectorsThread()) return;
  heldAt = here;
  while (holdPoint == here) ::usleep(100);
  heldAt = HoldPoint::kNone;
}

void holdIfAtRing(int fd) {
  char path[256] = "";
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  if (::readlink(link.c_str(), path, sizeof path - 1) < 0) return;
  const std::string text(path);
  if (text.ends_with("/1")) holdIfAt(HoldPoint::kFirst);
  if (text.ends_with("/2")) holdIfAt(HoldPoint::kSecond);
}

// Two rings, 1 and 2, drained in this order.
struct TwoRings {
  explicit TwoRings(milliseconds deadTtl = milliseconds(30'000)) : source(directory.path, deadTtl) {
    if (!first.create(directory / "1", 4, 64).empty() || !second.create(directory / "2", 4, 64).empty()) std::abort();
    waitUntil([&] { return source.agents() == 2; });  // the first scan may have seen a ring without a header
  }
  ~TwoRings() { holdPoint = HoldPoint::kNone; }
  void holdAt(HoldPoint where) {
    holdPoint = where;
    push(first, 1, 1);
    push(second, 1, 1);
    waitUntil([&] { return heldAt == where; });
  }
  void release() {
    holdPoint = HoldPoint::kNone;
    waitForTicks(3);
  }
  bool lists(const std::string& agent) {
    bool found = false;
    source.snapshot([&](const SourceAgent& seen, const auto&, const auto&) { found |= seen.name == agent; });
    return found;
  }

  const TemporaryDirectory directory;
  RingWriter first;
  RingWriter second;
  TestSource source;
};

}  // namespace

// Replace functions of the C library in the whole program.
extern "C" __attribute__((visibility("default"))) int stat(const char* path, struct stat* info) noexcept {
  holdIfAt(HoldPoint::kDirectory);
  return ::fstatat(AT_FDCWD, path, info, 0);
}
extern "C" __attribute__((visibility("default"))) ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  holdIfAtRing(fd);
  return ::syscall(SYS_pread64, fd, bytes, size, offset);
}
extern "C" __attribute__((visibility("default"))) ssize_t preadv(int fd, const iovec* parts, int count, off_t offset) {
  holdIfAtRing(fd);
  return ::syscall(SYS_preadv, fd, parts, count, offset, 0);
}

TEST(forgetsSourceClosedBeforeItsDeferredOpening) {
  TwoRings rings;
  Collector& collector = Collector::instance();
  rings.holdAt(HoldPoint::kDirectory);
  SourceOptions options = TestSource::optionsFor(rings.directory.path, milliseconds(0));
  options.drainInterval = milliseconds(1);
  const auto source = collector.open(options);
  rings.holdAt(HoldPoint::kFirst);  // collectorMutex is free now
  collector.close(source);
  rings.release();
  CHECK(collector.stats().drainInterval == milliseconds(2));
  CHECK_EQ(source.use_count(), 1);
}

// The thread makes both calls at one step. It must keep the rings that it then finds for the new source.
TEST(drainsRingsOfSourceOpenedAfterDeferredClosingOfLastOne) {
  TwoRings rings;
  const TemporaryDirectory elsewhere;
  RingWriter ring;
  REQUIRE_EQ(ring.create(elsewhere / "later", 4, 64), std::string());
  push(ring, 1, 3);
  rings.holdAt(HoldPoint::kDirectory);
  Collector::instance().close(rings.source.handle);
  TestSource source(elsewhere.path);
  holdPoint = HoldPoint::kNone;
  waitUntil([&] { return source.counted() == 3; });
  push(ring, 1, 2);
  waitUntil([&] { return source.counted() == 5; });
}

TEST(forgetsTapClosedBeforeItsDeferredOpening) {
  TwoRings rings;
  Collector& collector = Collector::instance();
  rings.holdAt(HoldPoint::kFirst);
  const auto tap = collector.openTap(rings.source.handle, {.types = 1, .all = true}, 16);
  rings.holdAt(HoldPoint::kSecond);  // the first agent's mutex is free now
  collector.closeTap(rings.source.handle, tap);
  rings.release();
  CHECK_EQ(tap.use_count(), 1);
}

TEST(removesTapsOfClosedSource) {
  TwoRings rings;
  Collector& collector = Collector::instance();
  const auto other = collector.open(TestSource::optionsFor(rings.directory.path, milliseconds(0)));
  waitForTicks(3);
  rings.holdAt(HoldPoint::kFirst);
  const auto tap = collector.openTap(other, {.types = 1, .all = true}, 16);
  collector.close(other);
  rings.release();
  CHECK_EQ(other.use_count(), 1);
  CHECK_EQ(tap.use_count(), 2);  // `tap`, and the closed source
}

// The reader never reads. If the collector did not forget it, it would keep the dead agent for ten minutes.
TEST(forgetsReaderRemovedBeforeItsDeferredAddition) {
  TwoRings rings(milliseconds(0));
  Collector& collector = Collector::instance();
  AgentProcess agent(rings.directory / "0");
  waitUntil([&] { return rings.source.alive("0"); });
  rings.holdAt(HoldPoint::kDirectory);
  const uint32_t reader = collector.addReader(rings.source.handle);
  rings.holdAt(HoldPoint::kFirst);
  collector.removeReader(rings.source.handle, reader);
  rings.release();
  agent.kill();
  waitUntil([&] { return !rings.lists("0"); });
}

TEST(keepsWholeBudgetAfterShortTimeout) {
  TwoRings rings;
  Collector& collector = Collector::instance();
  rings.holdAt(HoldPoint::kFirst);
  CHECK(!collector.drainNow(milliseconds(1)));
  CHECK(collector.callBudget().left == Collector::kLongestWait);
  CHECK(!collector.drainNow(Collector::kLongestWait));
  CHECK(collector.callBudget().left == milliseconds(0));
  rings.release();
  CHECK(collector.callBudget().left == Collector::kLongestWait);
}

TEST(keepsLastValuesOfDeadAgentAfterFailedSnapshot) {
  TwoRings rings(milliseconds(0));
  TestSource& source = rings.source;
  Collector& collector = Collector::instance();
  const uint32_t reader = collector.addReader(source.handle);
  AgentProcess agent(rings.directory / "0");
  waitUntil([&] { return source.alive("0"); });
  agent.write(5);
  agent.kill();
  waitUntil([&] { return source.status("0").life == Life::kDead; });
  rings.holdAt(HoldPoint::kFirst);
  WaitBudget none{milliseconds(0), milliseconds(0), 0};
  CHECK(!wholeSnapshot(*source.handle, reader, [](const auto&, const auto&, const auto&) {}, none));
  holdPoint = HoldPoint::kNone;
  waitForTicks(600);  // the collector checks lives twice a second
  CHECK(rings.lists("0"));
  WaitBudget forEver;
  wholeSnapshot(*source.handle, reader, [](const auto&, const auto&, const auto&) {}, forEver);
  waitUntil([&] { return !rings.lists("0"); });
}

TEST(opensAndClosesSourcesWhileThreadIsHeldUp) {
  const TemporaryDirectory directory;
  for (const HoldPoint where : {HoldPoint::kDirectory, HoldPoint::kFirst, HoldPoint::kSecond}) {
    std::vector<std::shared_ptr<Source>> sources;
    Collector& collector = Collector::instance();
    {
      TwoRings rings;
      rings.holdAt(where);
      for (int i = 0; i < 20; ++i) {
        sources.push_back(collector.open(TestSource::optionsFor(rings.directory.path, milliseconds(0))));
        if (i % 2 == 0) collector.close(sources.back());
      }
    }  // closes the source of `rings` while the thread is held up
    holdPoint = HoldPoint::kNone;
    for (size_t i = 1; i < sources.size(); i += 2) collector.close(sources[i]);
    waitUntil([&] {
      return std::all_of(sources.begin(), sources.end(), [](const auto& source) { return source.use_count() == 1; });
    });
    const TwoRings again;
  }
}

int main() { return check::run("held_up_test"); }
