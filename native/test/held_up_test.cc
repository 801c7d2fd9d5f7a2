// Calls while the collector's thread is held up, as by a frozen disk. It waits either for a directory, with the
// collector's lock held, or for a ring, with an agent's lock held.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <atomic>

#include "check.h"
#include "temporary_directory.h"
#include "watching.h"

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

enum class Place { kNone, kDirectory, kFirst, kSecond };
std::atomic<Place> place{Place::kNone};
std::atomic<Place> heldAt{Place::kNone};

bool isCollectorsThread() {
  char name[16] = "";
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  return std::string(name) == "nixl-otel";
}

void pass(Place here) {
  if (place != here || !isCollectorsThread()) return;
  heldAt = here;
  while (place == here) ::usleep(100);
  heldAt = Place::kNone;
}

void passRing(int fd) {
  char path[256] = "";
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  if (::readlink(link.c_str(), path, sizeof path - 1) < 0) return;
  const std::string text(path);
  if (text.ends_with("/1")) pass(Place::kFirst);
  if (text.ends_with("/2")) pass(Place::kSecond);
}

// Two rings, 1 and 2, drained in this order.
struct TwoRings {
  explicit TwoRings(milliseconds deadTtl = milliseconds(30'000)) : watching(directory.path, deadTtl) {
    if (!first.create(directory / "1", 4, 64).empty() || !second.create(directory / "2", 4, 64).empty()) std::abort();
    until([&] { return watching.agents() == 2; });  // the collector may have seen one during its creation
  }
  ~TwoRings() { place = Place::kNone; }
  void holdAt(Place where) {
    place = where;
    push(first, 1, 1);
    push(second, 1, 1);
    until([&] { return heldAt == where; });
  }
  void letGo() {
    place = Place::kNone;
    untilTicks(3);
  }
  bool knows(const std::string& agent) {
    bool found = false;
    watching.observe([&](const SourceAgent& seen, const auto&, const auto&) { found |= seen.name == agent; });
    return found;
  }

  const TemporaryDirectory directory;
  RingWriter first;
  RingWriter second;
  Watching watching;
};

}  // namespace

// Replaces the C library's function in the whole program.
extern "C" __attribute__((visibility("default"))) int stat(const char* path, struct stat* info) noexcept {
  pass(Place::kDirectory);
  return ::fstatat(AT_FDCWD, path, info, 0);
}
extern "C" __attribute__((visibility("default"))) ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  passRing(fd);
  return ::syscall(SYS_pread64, fd, bytes, size, offset);
}
extern "C" __attribute__((visibility("default"))) ssize_t preadv(int fd, const iovec* parts, int count, off_t offset) {
  passRing(fd);
  return ::syscall(SYS_preadv, fd, parts, count, offset, 0);
}

TEST(forgetsSourceClosedBeforeItsDeferredOpening) {
  TwoRings rings;
  Collector& collector = Collector::instance();
  rings.holdAt(Place::kDirectory);
  SourceOptions options = Watching::optionsFor(rings.directory.path, milliseconds(0));
  options.drainInterval = milliseconds(1);
  const auto source = collector.open(options);
  rings.holdAt(Place::kFirst);  // the collector's lock is free now
  collector.close(source);
  rings.letGo();
  CHECK(collector.stats().drainInterval == milliseconds(2));
  CHECK_EQ(source.use_count(), 1);
}

TEST(forgetsTapClosedBeforeItsDeferredOpening) {
  TwoRings rings;
  Collector& collector = Collector::instance();
  rings.holdAt(Place::kFirst);
  const auto tap = collector.openTap(rings.watching.source, {.types = 1, .all = true}, 16);
  rings.holdAt(Place::kSecond);  // the first ring's lock is free now
  collector.closeTap(rings.watching.source, tap);
  rings.letGo();
  CHECK_EQ(tap.use_count(), 1);
}

TEST(removesTapsOfClosedSource) {
  TwoRings rings;
  Collector& collector = Collector::instance();
  const auto other = collector.open(Watching::optionsFor(rings.directory.path, milliseconds(0)));
  untilTicks(3);
  rings.holdAt(Place::kFirst);
  const auto tap = collector.openTap(other, {.types = 1, .all = true}, 16);
  collector.close(other);
  rings.letGo();
  CHECK_EQ(other.use_count(), 1);
  CHECK_EQ(tap.use_count(), 2);  // the closed source's
}

// A reader that never reads: it would keep dead agents for ten minutes.
TEST(forgetsReaderRemovedBeforeItsDeferredAddition) {
  TwoRings rings(milliseconds(0));
  Collector& collector = Collector::instance();
  AgentProcess agent(rings.directory / "0");
  until([&] { return rings.watching.alive("0"); });
  rings.holdAt(Place::kDirectory);
  const uint32_t reader = collector.addReader(rings.watching.source);
  rings.holdAt(Place::kFirst);
  collector.removeReader(rings.watching.source, reader);
  rings.letGo();
  agent.kill();
  until([&] { return !rings.knows("0"); });
}

TEST(keepsWholeBudgetAfterShortTimeout) {
  TwoRings rings;
  Collector& collector = Collector::instance();
  rings.holdAt(Place::kFirst);
  CHECK(!collector.drainNow(milliseconds(1)));
  CHECK(collector.patience().left == Collector::kPatience);
  CHECK(!collector.drainNow(Collector::kPatience));
  CHECK(collector.patience().left == milliseconds(0));
  rings.letGo();
  CHECK(collector.patience().left == Collector::kPatience);
}

TEST(keepsLastValuesOfDeadAgentAfterFailedSnapshot) {
  TwoRings rings(milliseconds(0));
  Watching& watching = rings.watching;
  Collector& collector = Collector::instance();
  const uint32_t reader = collector.addReader(watching.source);
  AgentProcess agent(rings.directory / "0");
  until([&] { return watching.alive("0"); });
  agent.write(5);
  agent.kill();
  until([&] { return watching.status("0").life == Life::kDead; });
  rings.holdAt(Place::kFirst);
  WaitBudget none{milliseconds(0), milliseconds(0), 0};
  CHECK(!collector.snapshot(*watching.source, reader, [](const auto&, const auto&, const auto&) {}, none));
  place = Place::kNone;
  untilTicks(600);  // the collector checks lives twice a second
  CHECK(rings.knows("0"));
  WaitBudget forEver;
  collector.snapshot(*watching.source, reader, [](const auto&, const auto&, const auto&) {}, forEver);
  until([&] { return !rings.knows("0"); });
}

TEST(opensAndClosesSourcesWhileThreadIsHeldUp) {
  const TemporaryDirectory directory;
  for (const Place where : {Place::kDirectory, Place::kFirst, Place::kSecond}) {
    std::vector<std::shared_ptr<Source>> sources;
    Collector& collector = Collector::instance();
    {
      TwoRings rings;
      rings.holdAt(where);
      for (int i = 0; i < 20; ++i) {
        sources.push_back(collector.open(Watching::optionsFor(rings.directory.path, milliseconds(0))));
        if (i % 2 == 0) collector.close(sources.back());
      }
    }  // the oldest source is closed while the thread is held up
    place = Place::kNone;
    for (size_t i = 1; i < sources.size(); i += 2) collector.close(sources[i]);
    until([&] {
      return std::all_of(sources.begin(), sources.end(), [](const auto& source) { return source.use_count() == 1; });
    });
    const TwoRings again;
  }
}

int main() { return check::run("held_up_test"); }
