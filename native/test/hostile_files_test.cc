// Files with which an attacker tries to keep the collector from other rings: rings that never become empty, rings whose
// positions always move, many files, and a name that refers to a new file every few milliseconds. Every event of
// another ring must count in time.

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <atomic>

#include "check.h"
#include "stepped_ring.h"
#include "temporary_directory.h"
#include "test_reader.h"
#include "test_source.h"

using namespace nixl_otel;

namespace {

constexpr uint64_t kLargest = 1u << 24;

// Rings of the largest size. A thread makes them full again after each drain.
class EndlessRings {
 public:
  explicit EndlessRings(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      Image::headerA(4, 2, 16, 0, 0).put(24, kLargest).put(32, kLargest - 1).resize(40).writeTo(path);
      const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
      if (::ftruncate(fd, 40 + kLargest * 16) != 0) std::abort();
      void* header = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (header == MAP_FAILED) std::abort();
      ::close(fd);
      headers_.push_back(static_cast<uint64_t*>(header));
      fill(headers_.back());
    }
    writer_ = std::thread([this] {
      while (!done_) {
        for (uint64_t* header : headers_) fill(header);
        std::this_thread::yield();
      }
    });
  }
  ~EndlessRings() {
    done_ = true;
    writer_.join();
    for (uint64_t* header : headers_) ::munmap(header, 4096);
  }

 private:
  static void fill(uint64_t* header) {
    std::atomic_ref(header[0]).store((std::atomic_ref(header[1]).load() - 1) & (kLargest - 1));
  }
  std::vector<uint64_t*> headers_;
  std::atomic<bool> done_{false};
  std::thread writer_;
};

// Counts drained events without requesting a drain.
uint64_t countedSoFar(TestSource& source, const std::string& agent = "") {
  uint64_t sum = 0;
  source.snapshot([&](const SourceAgent& seen, const AgentStatus& status, const Tally&) {
    if (agent.empty() || seen.name == agent) sum += status.drains.drained;
  });
  return sum;
}

std::atomic<size_t> checks{0};

void makeEmptyFiles(const TemporaryDirectory& directory, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (::mknod((directory / std::to_string(i)).c_str(), S_IFREG | 0644, 0) != 0) std::abort();
  }
}

// Counts the descriptors of this process for files in this directory.
size_t descriptorsIn(const std::string& directory) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    count += std::filesystem::read_symlink(entry.path(), gone).string().starts_with(directory);
  }
  return count;
}

}  // namespace

// Replaces the C library's function in the whole program. The collector calls it once per try of a file.
extern "C" __attribute__((visibility("default"))) int fstatfs(int fd, struct statfs* info) noexcept {
  ++checks;
  return static_cast<int>(::syscall(SYS_fstatfs, fd, info));
}

// The collector tries recent files repeatedly. The second try of a file must come after the first try of all others.
TEST(triesEveryNewFileOnceBeforeSecondTries) {
  const TemporaryDirectory directory;
  constexpr size_t kFiles = 10'000;
  makeEmptyFiles(directory, kFiles);
  RingWriter ring;
  REQUIRE_EQ(ring.create(directory / "zzz", 4, 64), std::string());
  push(ring, 1, 3);
  checks = 0;
  TestSource source(directory.path);
  waitUntil([&] { return source.agents() == 1; });
  CHECK_WITH(checks < kFiles * 3 / 2, std::to_string(checks) + " checks");
}

// To try this many files takes about a second.
TEST(answersRequestedDrainBeforeEveryNewFileIsTried) {
  const TemporaryDirectory directory;
  constexpr size_t kFiles = 65'000;
  makeEmptyFiles(directory, kFiles);
  checks = 0;
  TestSource source(directory.path);
  source.drain();
  CHECK_WITH(checks < kFiles, std::to_string(checks) + " checks");
}

TEST(drainsOtherRingsBesideEndlessRings) {
  const TemporaryDirectory directory;
  TestSource source(directory.path);
  RingWriter ring;
  REQUIRE_EQ(ring.create(directory / "healthy", 4, 256), std::string());
  push(ring, 1, 1);
  waitUntil([&] { return source.counted("healthy") == 1; });
  const EndlessRings endless({directory / "endless-1", directory / "endless-2"});
  waitUntil([&] { return countedSoFar(source) > 1'000'000; });
  // Without a request: while a burst waits in the ring, the endless rings get only a few turns.
  for (int i = 0; i < 10; ++i) {
    const uint64_t before = countedSoFar(source);
    push(ring, 1, 200);
    waitUntil([&] { return ring.pending() == 0; });
    const uint64_t meanwhile = countedSoFar(source) - before;
    CHECK_WITH(meanwhile < kLargest / 4, std::to_string(meanwhile) + " events of the others");
  }
  // With a request: the collector serves it although the endless rings have backlogs.
  for (uint64_t i = 1; i <= 3; ++i) {
    push(ring, 1, 100);
    CHECK(Collector::instance().drainNow(std::chrono::milliseconds(10'000)));
    CHECK_EQ(ring.pending(), 0u);
  }
  CHECK_EQ(source.counted("healthy"), 2301u);
  // The collector also finds a new ring.
  AgentProcess late(directory / "late");
  late.write(10);
  waitUntil([&] { return source.alive("late"); });
  CHECK_EQ(source.counted("late"), 10u);
}

// A drain that needs a pause and may not take one must return before it reads an event or changes the file.
TEST(leavesRingThatNeedsPauseUnchangedWithoutPauses) {
  SteppedDrain stepped(64);
  const auto readPos = [&] { return load<uint64_t>(stepped.path, kHeaderA.readPos); };
  const auto expectNeedsPause = [&](uint64_t taken) {
    stepped.ring.before = [](Access access) { CHECK(access != Access::kPause && access != Access::kInspect); };
    const uint64_t before = readPos();
    const uint64_t countedBefore = stepped.count;
    CHECK_EQ(stepped.drain(false), DrainOutcome::kNeedsPause);
    CHECK_EQ(stepped.count - countedBefore, taken);
    CHECK_EQ(readPos(), (before + taken) & 63);
    stepped.ring.before = [](Access) {};
  };
  push(stepped.writer, 1, 10);
  CHECK_EQ(stepped.drain(false), DrainOutcome::kEmpty);
  CHECK_EQ(stepped.count, 10u);

  push(stepped.writer, 1, 54);  // to the lap's end
  expectNeedsPause(0);
  CHECK_EQ(stepped.drain(), DrainOutcome::kEmpty);
  CHECK_EQ(stepped.count, 64u);

  push(stepped.writer, 1, 10);
  store(stepped.path, kHeaderA.readPos, uint64_t{4});
  expectNeedsPause(0);
  CHECK_EQ(stepped.drain(), DrainOutcome::kEmpty);
  CHECK_EQ(stepped.count, 70u);

  push(stepped.writer, 1, 30);
  REQUIRE_EQ(::truncate(stepped.path.c_str(), 40 + 16 * 25), 0);
  expectNeedsPause(0);
  REQUIRE_EQ(::truncate(stepped.path.c_str(), 40 + 16 * 64), 0);
  CHECK_EQ(stepped.drain(), DrainOutcome::kEmpty);
  CHECK_EQ(stepped.count, 100u);

  push(stepped.writer, 1, 10);
  store(stepped.path, kVersionOffset + 4, int32_t{4});  // the mark is gone
  expectNeedsPause(0);
}

namespace {

// Rings whose positions an attacker moves all the time. One pass over them takes more than a hundred pauses.
class MovingRings {
 public:
  explicit MovingRings(const TemporaryDirectory& directory) {
    for (int i = 0; i < kCount; ++i) {
      const std::string path = directory / ("moving-" + std::to_string(i));
      if (!writers_[i].create(path, 4, 64).empty()) std::abort();
      files_.push_back(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    }
  }
  void begin() {
    attacker_ = std::thread([this] {
      for (uint64_t at = 0; !done_; ++at) {
        const uint64_t position = at % 64;
        for (const int file : files_) {
          if (::pwrite(file, &position, sizeof position, kHeaderA.readPos) != sizeof position) std::abort();
        }
      }
    });
  }
  ~MovingRings() {
    done_ = true;
    attacker_.join();
    for (const int file : files_) ::close(file);
  }
  static constexpr int kCount = 100;

 private:
  const std::unique_ptr<RingWriter[]> writers_ = std::make_unique<RingWriter[]>(kCount);
  std::vector<int> files_;
  std::atomic<bool> done_{false};
  std::thread attacker_;
};

}  // namespace

// Many rings that need pauses must not delay the others.
TEST(drainsRingsThatNeedPauseAfterAllOthers) {
  const TemporaryDirectory directory;
  MovingRings moving(directory);
  TestSource source(directory.path);
  AgentProcess healthy(directory / "healthy");
  waitUntil([&] { return source.agents() == MovingRings::kCount + 1; });
  moving.begin();
  healthy.write(1);
  waitUntil([&] { return countedSoFar(source, "healthy") == 1; });
  const Clock::time_point begun = Clock::now();
  for (uint64_t i = 2; i <= 20; ++i) {
    healthy.write(1);
    waitUntil([&] { return countedSoFar(source, "healthy") == i; });
  }
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
  CHECK_WITH(ms < 20 * 50, std::to_string(ms) + " ms for what takes 20 ticks");
}

// Rings that need pauses must not delay rings with a backlog either.
TEST(givesBacklogsHalfOfTheTimeBesideRingsThatNeedPause) {
  const TemporaryDirectory directory;
  MovingRings moving(directory);
  SourceOptions options = TestSource::optionsFor(directory.path, std::chrono::milliseconds(30'000));
  options.drainInterval = std::chrono::milliseconds(100);
  TestSource source(options);
  constexpr uint64_t kEvents = 1'900'000;
  RingWriter full[2];
  REQUIRE_EQ(full[0].create(directory / "full-0", 4, 1u << 21), std::string());
  REQUIRE_EQ(full[1].create(directory / "full-1", 4, 1u << 21), std::string());
  waitUntil([&] { return source.agents() == MovingRings::kCount + 2; });
  moving.begin();
  waitForTicks(2);
  const uint64_t before = Collector::instance().stats().ticks;
  for (RingWriter& ring : full) push(ring, 1, kEvents);
  waitUntil([&] { return full[0].pending() + full[1].pending() == 0; });
  const uint64_t ticks = Collector::instance().stats().ticks - before;
  // With one turn per tick it would be 58 ticks. (Under a sanitizer half of a tick is too short for many turns.)
  CHECK_WITH(ticks < 40 || check::kSanitized, std::to_string(ticks) + " ticks");
}

// Stores write_pos 0 before each read, and the next position after the pause that the drain takes for it.
TEST(limitsPausesOfRingAlwaysAtLapEnd) {
  SteppedDrain stepped(4096);
  push(stepped.writer, 1, 10);
  CHECK_EQ(stepped.drain(), DrainOutcome::kEmpty);
  int pauses = 0;
  stepped.ring.before = [&](Access access) {
    if (access == Access::kPause) {
      ++pauses;
      store(stepped.path, 0, load<uint64_t>(stepped.path, 8) + 1);
    } else if (access == Access::kSwapReadPos) {
      store(stepped.path, 0, uint64_t{0});
    }
  };
  store(stepped.path, 0, uint64_t{0});
  CHECK_EQ(stepped.drain(), DrainOutcome::kMore);
  CHECK_WITH(pauses <= 8, std::to_string(pauses) + " pauses");
  stepped.ring.before = [](Access) {};
  store(stepped.path, 0, uint64_t{0});
  CHECK_EQ(stepped.drain(), DrainOutcome::kEmpty);
  CHECK_EQ(stepped.count, 4096u);
}

// The collector drains an unlinked file for a while, because its writer may be invisible and still write. The number of
// these files must be limited.
TEST(limitsDescriptorsOfRepeatedlyReplacedRing) {
  const TemporaryDirectory directory;
  const TemporaryDirectory elsewhere;
  TestSource source(directory.path);
  constexpr uint64_t kFiles = 40;
  for (uint64_t i = 1; i <= kFiles; ++i) {
    RingWriter ring;
    REQUIRE_EQ(ring.create(elsewhere / "next", 4, 64), std::string());
    push(ring, 1, 5);
    REQUIRE_EQ(::rename((elsewhere / "next").c_str(), (directory / "agent").c_str()), 0);
    waitUntil([&] { return source.counted() == 10 * i - 5; });
    push(ring, 6, 5);  // the next file replaces this one at once
  }
  CHECK_EQ(source.counted(), 10 * kFiles);
  CHECK_WITH(descriptorsIn(directory.path) <= 5, std::to_string(descriptorsIn(directory.path)) + " descriptors");
  CHECK_EQ(source.agents(), 1u);
}

// Each of the largest number of open rings is replaced. Half as many replacements are opened, and the others wait.
TEST(limitsReplacedRingsToThreeQuartersOfTheDescriptors) {
  const TemporaryDirectory directory;
  constexpr uint64_t kRings = 32;
  rlimit before;
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{2 * kRings, before.rlim_max};
  REQUIRE_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto makeAll = [&] {
    for (uint64_t i = 0; i < kRings; ++i) {
      RingWriter ring;
      ::unlink((directory / std::to_string(i)).c_str());
      REQUIRE_EQ(ring.create(directory / std::to_string(i), 4, 4), std::string());
      push(ring, 1, 2);
    }
  };
  makeAll();
  TestSource source(directory.path);
  waitUntil([&] { return source.counted() == 2 * kRings; });
  makeAll();
  waitUntil([&] { return source.counted() == 3 * kRings; });
  waitUntil([&] { return source.problems().size() == kRings / 2; });
  CHECK_EQ(descriptorsIn(directory.path), kRings * 3 / 2);
  REQUIRE_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  waitUntil([&] { return source.counted() == 4 * kRings; });
  CHECK_EQ(source.problems().size(), 0u);
}

int main() { return check::run("hostile_files_test"); }
