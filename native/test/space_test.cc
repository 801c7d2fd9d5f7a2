// State takes no space that rings may need, and rings of living agents get the pages that they lack. The agents are
// processes that set the size of their ring and allocate nothing, as NIXL does.

#include "ring/space.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>

#include "check.h"
#include "ring/parked_ring.h"
#include "ring/ring_observer.h"
#include "temporary_directory.h"
#include "test_reader.h"
#include "test_source.h"

namespace {
bool isAgent = false;                    // in the processes of agents
std::function<void(int fd)> beforeFill;  // called once
std::atomic<int> fills{0};
}  // namespace

// Replace functions of the C library in the whole program. An agent of NIXL allocates nothing.
extern "C" __attribute__((visibility("default"))) int posix_fallocate(int fd, off_t from, off_t bytes) {
  if (isAgent) return 0;
  return ::syscall(SYS_fallocate, fd, 0, from, bytes) == 0 ? 0 : errno;
}
extern "C" __attribute__((visibility("default"))) int fallocate(int fd, int mode, off_t from, off_t bytes) {
  ++fills;
  if (beforeFill) std::exchange(beforeFill, nullptr)(fd);
  return static_cast<int>(::syscall(SYS_fallocate, fd, mode, from, bytes));
}

using namespace nixl_otel;

namespace {

constexpr uint64_t kSlots = 4096;
constexpr uint64_t kRingBytes = 17 * 4096;

// A process that writes events when write() tells it to, and touches one page after the other.
class SparseAgent {
 public:
  explicit SparseAgent(const std::string& path, uint64_t slots = kSlots) {
    int orders[2];
    int answers[2];
    if (::pipe(orders) != 0 || ::pipe(answers) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      isAgent = true;
      ::signal(SIGBUS, SIG_DFL);  // AddressSanitizer has set a handler of its own
      ::close(orders[1]);
      ::close(answers[0]);
      const rlimit noCore{0, 0};
      ::setrlimit(RLIMIT_CORE, &noCore);
      RingWriter ring;
      if (!ring.create(path, 4, slots).empty()) ::_exit(1);
      for (uint32_t count = 0; ::write(answers[1], "x", 1) == 1 && ::read(orders[0], &count, sizeof count) > 0;) {
        for (uint32_t i = 0; i < count; ++i) push(ring, 1, 1);
      }
      ::_exit(0);
    }
    ::close(orders[0]);
    ::close(answers[1]);
    orders_ = orders[1];
    answers_ = answers[0];
    write(0);
  }
  ~SparseAgent() {
    kill();
    ::close(orders_);
    ::close(answers_);
  }
  // False if the agent has ended.
  bool write(uint32_t count) {
    char done;
    if (isBegun_ && ::write(orders_, &count, sizeof count) != sizeof count) return false;
    isBegun_ = true;
    return ::read(answers_, &done, 1) == 1;
  }
  // Waits for the end, and returns the signal that caused it, or 0.
  int end() {
    int status = 0;
    if (pid_ != 0) ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  void kill() {
    if (pid_ != 0) ::kill(pid_, SIGKILL);
    end();
  }

 private:
  pid_t pid_ = 0;
  int orders_ = -1;
  int answers_ = -1;
  bool isBegun_ = false;
};

// A tmpfs of this size. `path` is "" if the test may not mount one.
struct SmallTmpfs {
  const TemporaryDirectory directory;
  std::string path = directory / "small";
  explicit SmallTmpfs(const std::string& size) {
    ::signal(SIGPIPE, SIG_IGN);
    std::filesystem::create_directory(path);
    if (::mount("tmpfs", path.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0) return;
    std::printf("skipped: the test may not mount a tmpfs\n");
    path.clear();
  }
  ~SmallTmpfs() {
    if (!path.empty()) ::umount2(path.c_str(), MNT_DETACH);
  }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  uint64_t free() const {
    const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return spaceOf(fd.get()).freeBytes;
  }
  // Takes all space but this, as another program does.
  void leave(uint64_t bytes) const {
    const FileDescriptor fd(::open((path + "/other").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    struct stat info;
    if (::fstat(fd.get(), &info) != 0) std::abort();
    const auto had = static_cast<uint64_t>(info.st_blocks) * kBlockBytes;
    const uint64_t all = had + free() - bytes;
    if (::ftruncate(fd.get(), static_cast<off_t>(all)) != 0) std::abort();
    if (::syscall(SYS_fallocate, fd.get(), 0, 0, all) != 0) std::abort();
  }
};

SourceOptions optionsOf(const SmallTmpfs& tmpfs, bool state, bool fill) {
  SourceOptions options = TestSource::optionsFor(tmpfs.path, std::chrono::milliseconds(30'000));
  options.state = state;
  options.fill = fill;
  return options;
}

struct stat statOf(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) std::abort();
  return info;
}

std::string stateProblem(TestSource& source) {
  const auto problems = source.report().stateProblems;
  return problems.empty() ? "" : problems.front().reason;
}

void put(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST(tellsWhatRingsLack) {
  const TemporaryDirectory directory = TemporaryDirectory::inMemory();
  const auto made = [&](off_t bytes) {
    const FileDescriptor fd(::open((directory / "file").c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600));
    if (::ftruncate(fd.get(), bytes) != 0) std::abort();
    return statOf(directory / "file");
  };
  CHECK_EQ(lackOf(made(65'576)), kRingBytes);
  CHECK_EQ(lackOf(made(229'416)), 57u * 4096);  // wire version 1
  CHECK_EQ(lackOf(made(65'577)), 0u);           // no ring has this size
  CHECK_EQ(lackOf(made(0)), 0u);
  CHECK_EQ(lackOf(made(off_t{1} << 40)), 0u);
}

TEST(stateLeavesWhatRingsLack) {
  const SmallTmpfs tmpfs("8m");
  if (tmpfs.path.empty()) return;
  SparseAgent agent(tmpfs / "agent");
  SparseAgent other(tmpfs / "other-agent");
  REQUIRE(agent.write(10) && other.write(10));
  tmpfs.leave(2 * (kRingBytes - 4096));
  {
    TestSource source(optionsOf(tmpfs, true, false));
    waitUntil([&] { return source.counted() == 20; });
    CHECK_WITH(stateProblem(source).find("could end an agent") != std::string::npos, stateProblem(source));
    for (int i = 0; i < 100; ++i) {
      REQUIRE(agent.write(100) && other.write(100));
      source.drain();
    }
    waitUntil([&] { return source.counted() == 20'020; });
    CHECK(!std::filesystem::exists(tmpfs / ".nixl-otel"));
    std::filesystem::remove(tmpfs / "other");
    waitUntil([&] {
      source.drain();
      return stateProblem(source).empty();
    });
  }
  TestSource next(optionsOf(tmpfs, true, false));
  waitUntil([&] { return next.counted() == 20'020; });
}

// Its size tells nothing of the pages that a recovered state file has.
TEST(stateWithHolesLeavesWhatRingsLack) {
  const SmallTmpfs tmpfs("8m");
  if (tmpfs.path.empty()) return;
  SparseAgent agent(tmpfs / "agent");
  REQUIRE(agent.write(10));
  {
    TestSource source(optionsOf(tmpfs, true, false));
    waitUntil([&] { return source.counted() == 10; });
  }
  const std::string file = tmpfs / ".nixl-otel/agent";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) + kRingBytes);
  tmpfs.leave(kRingBytes);
  REQUIRE(agent.write(10));
  TestSource next(optionsOf(tmpfs, true, false));
  waitUntil([&] { return next.counted() == 20; });
  CHECK_WITH(stateProblem(next).find("could end an agent") != std::string::npos, stateProblem(next));
}

TEST(filledRingSurvivesFullTmpfs) {
  for (const bool fill : {false, true}) {
    const SmallTmpfs tmpfs("8m");
    if (tmpfs.path.empty()) return;
    SparseAgent agent(tmpfs / "agent");
    TestSource source(optionsOf(tmpfs, false, fill));
    REQUIRE(agent.write(10));
    const struct stat before = statOf(tmpfs / "agent");
    if (fill) waitUntil([&] { return lackOf(statOf(tmpfs / "agent")) == 0; });
    waitUntil([&] { return source.alive("agent"); });
    tmpfs.leave(0);
    bool lives = true;
    for (int i = 0; lives && i < 100; ++i) {
      lives = agent.write(100);
      source.drain();
    }
    CHECK_EQ(lives, fill);
    if (!lives) {
      CHECK_EQ(agent.end(), SIGBUS);
      continue;
    }
    CHECK_EQ(source.counted(), 10'010u);
    CHECK_EQ(statOf(tmpfs / "agent").st_size, before.st_size);
    const AgentStatus status = source.status("agent");
    CHECK_EQ(status.drains.restarts, 0u);
    CHECK(!status.drains.suspect);
  }
}

// The agent makes its ring smaller right before the call: it stays as the agent made it.
TEST(fillingDoesNotEnlargeARing) {
  const SmallTmpfs tmpfs("8m");
  if (tmpfs.path.empty()) return;
  SparseAgent agent(tmpfs / "agent");
  std::atomic<bool> isDone{false};
  beforeFill = [&](int fd) {
    if (::ftruncate(fd, 16'424) != 0) std::abort();
    isDone = true;
  };
  TestSource source(optionsOf(tmpfs, false, true));
  waitUntil([&] { return isDone.load(); });
  source.drain();
  CHECK_EQ(statOf(tmpfs / "agent").st_size, 16'424);
}

// What no agent writes gets nothing, nor does what would take too much.
TEST(fillsOnlyRingsOfLivingAgentsWithinLimits) {
  const SmallTmpfs tmpfs("800m");
  if (tmpfs.path.empty()) return;
  fills = 0;
  {
    SparseAgent ended(tmpfs / "ended");
    REQUIRE(ended.write(10));
    ended.kill();
  }
  std::vector<std::unique_ptr<SparseAgent>> large;
  const auto pathOf = [&](int i) { return tmpfs / ("large" + std::to_string(i)); };
  for (int i = 0; i < 6; ++i) large.push_back(std::make_unique<SparseAgent>(pathOf(i), 1 << 20));
  SparseAgent huge(tmpfs / "huge", 1 << 24);
  TestSource source(optionsOf(tmpfs, false, true));
  const auto isFilled = [&](int i) { return lackOf(statOf(pathOf(i))) == 0; };
  waitUntil([&] { return isFilled(0) && isFilled(1) && isFilled(2) && isFilled(3); });
  waitUntil([&] { return source.alive("huge"); });
  const int before = fills;
  waitForTicks(300);
  CHECK_EQ(fills.load(), before);       // once in an incarnation
  CHECK(!isFilled(4) && !isFilled(5));  // the fifth would exceed 64 MiB
  CHECK(lackOf(statOf(tmpfs / "huge")) > uint64_t{200} << 20);
  CHECK(lackOf(statOf(tmpfs / "ended")) == kRingBytes - 4096);
  // A ring that is gone gives its share back.
  std::filesystem::remove(pathOf(0));
  std::filesystem::remove(pathOf(1));
  large.erase(large.begin(), large.begin() + 2);
  waitUntil([&] { return isFilled(4) && isFilled(5); });
}

// Another consumer fills a ring that this one parked, or that this process observes: no restart.
TEST(fillingIsNoChange) {
  const SmallTmpfs tmpfs("8m");
  if (tmpfs.path.empty()) return;
  SparseAgent agent(tmpfs / "agent");
  REQUIRE(agent.write(4000));
  RingObserver observer(RingFile::open(tmpfs / "agent", RingAccess::kObserve, false));
  const FileId id = *fileAt(tmpfs / "agent");
  const FileDescriptor fd(::open((tmpfs / "agent").c_str(), O_RDWR | O_CLOEXEC));
  // Equal events, of which a lap looks like the one before, and a consumer that takes them.
  CHECK_EQ(observer.observe(10'000).count(), 4000u);
  store<uint64_t>(tmpfs / "agent", 8, 4000);
  ParkedRing mapped(tmpfs / "agent", id, readHeader(fd.get()), true);
  ParkedRing unmapped(tmpfs / "agent", id, readHeader(fd.get()), false);
  const struct stat before = statOf(tmpfs / "agent");
  REQUIRE(lackOf(before) != 0);
  REQUIRE_EQ(::fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, 0, before.st_size), 0);
  const struct stat after = statOf(tmpfs / "agent");
  CHECK(after.st_ctim.tv_nsec != before.st_ctim.tv_nsec || after.st_ctim.tv_sec != before.st_ctim.tv_sec);
  CHECK(!mapped.hasChanged());
  CHECK(!unmapped.hasChanged());
  REQUIRE(agent.write(200));
  const Observation seen = observer.observe(10'000);
  CHECK(!seen.restarted);
  CHECK_EQ(seen.count(), 200u);
  // A restart with an equal header is one all the same.
  ParkedRing full(tmpfs / "agent", id, readHeader(fd.get()), true);
  CHECK(!full.hasChanged());
  REQUIRE_EQ(::ftruncate(fd.get(), before.st_size), 0);
  CHECK(full.hasChanged());
}

TEST(findsFreeMemoryOfCgroups) {
  const TemporaryDirectory root;
  const std::string cgroups = root / "sys/fs/cgroup";
  put(root / "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable:   900 kB\n");
  CHECK_EQ(freeMemory(root.path), 900u * 1024);
  put(root / "proc/self/cgroup", "0::/pod/engine\n");
  CHECK_EQ(freeMemory(root.path), 900u * 1024);
  put(cgroups + "/pod/engine/memory.max", "max\n");
  put(cgroups + "/pod/engine/memory.current", "100\n");
  CHECK_EQ(freeMemory(root.path), 900u * 1024);
  put(cgroups + "/pod/memory.max", "5000\n");
  put(cgroups + "/pod/memory.current", "4000\n");
  CHECK_EQ(freeMemory(root.path), 1000u);
  put(cgroups + "/pod/memory.stat", "anon 3\ninactive_file 700\n");
  CHECK_EQ(freeMemory(root.path), 1700u);
  put(cgroups + "/memory.max", "300\n");  // as a container sees its own
  put(cgroups + "/memory.current", "400\n");
  CHECK_EQ(freeMemory(root.path), 0u);
  std::filesystem::remove_all(cgroups);
  put(root / "proc/self/cgroup", "7:cpu,cpuacct:/x\n4:memory:/docker/abc\n");
  put(cgroups + "/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put(cgroups + "/memory/memory.usage_in_bytes", "12\n");
  CHECK_EQ(freeMemory(root.path), 900u * 1024);
  put(cgroups + "/memory/docker/abc/memory.limit_in_bytes", "8192\n");
  put(cgroups + "/memory/docker/abc/memory.usage_in_bytes", "8000\n");
  put(cgroups + "/memory/docker/abc/memory.stat", "inactive_file 5\ntotal_inactive_file 8\n");
  CHECK_EQ(freeMemory(root.path), 200u);
}

int main() { return check::run("space_test"); }
