// Waits for the first ring of empty directories. In these tests a watch that misses a change waits for an hour.

#include "collector/directory_watch.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "check.h"
#include "posix/posix.h"
#include "temporary_directory.h"
#include "test_source.h"

using namespace nixl_otel;

namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

using Directories = std::set<std::string>;

// The watch as the collector's thread uses it.
struct TestWatch {
  ~TestWatch() {
    collectorThread.enter();
    const FairLock lock(collectorMutex);
    watch.close();
    collectorThread.leave();
  }
  bool covers(const Directories& directories) {
    collectorThread.enter();
    const FairLock lock(collectorMutex);
    const bool covers = watch.watch(directories);
    collectorThread.leave();
    return covers;
  }
  void wait() {
    collectorThread.enter();
    watch.wait(Clock::now() + hours(1));
    collectorThread.leave();
  }
  void wake() {
    const FairLock lock(collectorMutex);
    watch.wake();
  }
  DirectoryWatch watch;
};

void makeFile(const std::string& path) { Image(1).writeTo(path); }

// Waits until the collector's thread waits for longer than it does between two looks that it makes without a watch.
void waitUntilWatching() {
  waitUntil([] { return Collector::instance().sinceTickMs() > 150; });
}

}  // namespace

TEST(coversDirectoriesFromTheSecondCallOn) {
  const TemporaryDirectory one = TemporaryDirectory::inMemory();
  const TemporaryDirectory two = TemporaryDirectory::inMemory();
  TestWatch watch;
  CHECK(!watch.covers({}));
  CHECK(!watch.covers({one.path}));
  CHECK(watch.covers({one.path}));
  CHECK(!watch.covers({one.path, two.path}));
  CHECK(watch.covers({one.path, two.path}));
  CHECK(!watch.covers({}));
  CHECK(!watch.covers({one.path}));
}

TEST(reportsEachChangeThatMayAddARing) {
  const TemporaryDirectory parent = TemporaryDirectory::inMemory();
  const std::string directory = parent / "rings";
  const std::function<void()> changes[] = {
      [&] { makeFile(directory + "/created"); },
      [&] { std::filesystem::create_hard_link(directory + "/created", directory + "/linked"); },
      [&] { ::mkdir((directory + "/folder").c_str(), 0755); },
      [&] {
        makeFile(parent / "elsewhere");
        std::filesystem::rename(parent / "elsewhere", directory + "/moved");
      },
      [&] {
        std::filesystem::rename(directory, parent / "away");
        ::mkdir(directory.c_str(), 0755);
      },
      [&] {
        std::filesystem::remove(directory);
        ::mkdir(directory.c_str(), 0755);
      },
  };
  ::mkdir(directory.c_str(), 0755);
  TestWatch watch;
  watch.covers({directory});
  for (const auto& change : changes) {
    REQUIRE_EQ(watch.covers({directory}), true);
    change();
    watch.wait();
    CHECK(!watch.covers({directory}));
  }
  CHECK(watch.covers({directory}));
}

TEST(noticesAPathThatLeadsElsewhere) {
  const TemporaryDirectory parent = TemporaryDirectory::inMemory();
  for (const char* name : {"first", "second"}) ::mkdir((parent / name).c_str(), 0755);
  std::filesystem::create_symlink("first", parent / "link");
  FileDescriptor user;
  const std::function<void()> changes[] = {
      [&] {
        std::filesystem::create_symlink("second", parent / "next");
        std::filesystem::rename(parent / "next", parent / "link");
      },
      [&] {
        // A process that has the directory open delays the event of its end.
        user = FileDescriptor(::open((parent / "second").c_str(), O_RDONLY | O_DIRECTORY));
        std::filesystem::remove(parent / "second");
        ::mkdir((parent / "second").c_str(), 0755);
      },
  };
  TestWatch watch;
  const Directories directories{parent / "link"};
  watch.covers(directories);
  for (const auto& change : changes) {
    REQUIRE_EQ(watch.covers(directories), true);
    change();
    CHECK(!watch.covers(directories));
    REQUIRE_EQ(watch.covers(directories), true);
    makeFile(parent / "link/created");
    watch.wait();
    CHECK(!watch.covers(directories));
    std::filesystem::remove(parent / "link/created");
  }
}

TEST(doesNotCoverWhatMayChangeUnseen) {
  const TemporaryDirectory directory = TemporaryDirectory::inMemory();
  Directories tooMany;
  for (int i = 0; i < 65; ++i) {
    tooMany.insert(directory / std::to_string(i));
    REQUIRE_EQ(::mkdir((directory / std::to_string(i)).c_str(), 0755), 0);
  }
  const Directories cases[] = {{directory / "absent"}, {directory.path, directory / "absent"}, {"/proc"}, tooMany};
  TestWatch watch;
  for (const Directories& directories : cases) {
    for (int i = 0; i < 3; ++i) CHECK(!watch.covers(directories));
  }
  tooMany.erase(tooMany.begin());
  CHECK(!watch.covers(tooMany));
  CHECK(watch.covers(tooMany));
}

TEST(remembersAWakeUpBeforeTheWait) {
  const TemporaryDirectory directory = TemporaryDirectory::inMemory();
  TestWatch watch;
  watch.covers({directory.path});
  REQUIRE_EQ(watch.covers({directory.path}), true);
  watch.wake();
  watch.wait();
  std::thread other([&] { watch.wake(); });
  watch.wait();
  other.join();
}

TEST(findsRingsThatAppearAtAnyMomentOfItsLooks) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> pauseUs(0, 120'000);  // two looks without a watch, and some time with one
  for (int i = 0; i < 100; ++i) {
    const TemporaryDirectory directory = TemporaryDirectory::inMemory();
    TestSource source(directory.path);
    const auto begin = Clock::now();
    const microseconds pause(pauseUs(random));
    waitUntil([&] { return Clock::now() - begin >= pause; });
    const std::string folder = directory / (i % 2 == 0 ? "" : "folder/");
    ::mkdir(folder.c_str(), 0755);
    RingWriter ring;
    REQUIRE_EQ(ring.create(folder + "agent", 4, 64), std::string());
    waitUntil([&] { return source.agents() == 1; });
  }
}

TEST(followsAWatchedDirectoryThatIsReplaced) {
  const TemporaryDirectory parent = TemporaryDirectory::inMemory();
  const std::string directory = parent / "rings";
  REQUIRE_EQ(::mkdir(directory.c_str(), 0755), 0);
  TestSource source(directory);
  waitUntilWatching();
  std::filesystem::rename(directory, parent / "away");
  waitUntil([&] { return source.problem() != ""; });
  REQUIRE_EQ(::mkdir(directory.c_str(), 0755), 0);
  waitUntilWatching();
  CHECK_EQ(source.problem(), std::string());
  RingWriter ring;
  REQUIRE_EQ(ring.create(directory + "/agent", 4, 64), std::string());
  waitUntil([&] { return source.agents() == 1; });
}

// inotify reports nothing of this change.
TEST(looksAgainAfterAPause) {
  const TemporaryDirectory parent = TemporaryDirectory::inMemory();
  const std::string directory = parent / "above/rings";
  REQUIRE_EQ(std::filesystem::create_directories(directory), true);
  DirectoryWatch::longestPause = milliseconds(500);
  TestSource source(directory);
  waitUntilWatching();
  std::filesystem::rename(parent / "above", parent / "away");
  REQUIRE_EQ(std::filesystem::create_directories(directory), true);
  RingWriter ring;
  REQUIRE_EQ(ring.create(directory + "/agent", 4, 64), std::string());
  waitUntil([&] { return source.agents() == 1; });
  DirectoryWatch::longestPause = hours(1);
}

TEST(servesCallsWhileItWatches) {
  const TemporaryDirectory empty = TemporaryDirectory::inMemory();
  const TemporaryDirectory used = TemporaryDirectory::inMemory();
  RingWriter ring;
  REQUIRE_EQ(ring.create(used / "agent", 4, 64), std::string());
  for (int i = 0; i < 3; ++i) {
    TestSource source(empty.path);
    waitUntilWatching();
    const uint64_t request = Collector::instance().requestDrain();
    waitUntil([&] { return Collector::instance().isServed(request); });
    waitUntilWatching();
    TestSource other(used.path);
    waitUntil([&] { return other.agents() == 1; });
  }
}

TEST(countsNoWaitForTheFirstRingAsLag) {
  const TemporaryDirectory empty = TemporaryDirectory::inMemory();
  TestSource source(empty.path);
  Collector& collector = Collector::instance();
  waitUntil([&] { return collector.sinceTickMs() > 1000; });
  const uint64_t request = collector.requestDrain();
  waitUntil([&] { return collector.isServed(request); });
  CHECK(collector.stats().maxLagMs < 1000);
}

int main() {
  DirectoryWatch::longestPause = hours(1);
  return check::run("directory_watch_test");
}
