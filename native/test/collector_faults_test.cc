// The collector under faults of the machine or the directory: no descriptor is free, files are replaced, directories
// are deleted and created again. In most tests every event of a ring must count all the same.

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "check.h"
#include "temporary_directory.h"
#include "test_reader.h"
#include "test_source.h"

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

// Limits this process to `more` further open files while the object exists.
struct DescriptorLimit {
  explicit DescriptorLimit(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before);
    const int next = ::dup(0);
    ::close(next);
    rlimit few{static_cast<rlim_t>(next) + more, before.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) std::abort();
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before); }
  rlimit before;
};

}  // namespace

TEST(keepsLivingAgentWithoutFreeDescriptor) {
  const TemporaryDirectory directory;
  AgentProcess agent(directory / "agent");
  TestSource source(directory.path, milliseconds(0));
  agent.write(10);
  waitUntil([&] { return source.alive("agent"); });
  {
    const DescriptorLimit limit(0);
    waitForTicks(600, [&] { source.agents(); });  // the collector checks lives twice a second
    agent.write(5);
    CHECK_EQ(source.counted(), 15u);
    CHECK_EQ(source.agents(), 1u);
  }
  agent.write(5);
  CHECK_EQ(source.counted(), 20u);
  agent.kill();
  waitUntil([&] { return source.agents() == 0; });
}

TEST(opensRingOnceADescriptorIsFree) {
  const TemporaryDirectory directory;
  TestSource source(directory.path);
  RingWriter ring;
  source.drain();
  {
    REQUIRE_EQ(ring.create(directory / "agent", 4, 64), std::string());
    push(ring, 1, 7);
    const DescriptorLimit limit(0);
    waitForTicks(100);
    CHECK_EQ(source.counted(), 0u);
    // The reason belongs to the directory or to the ring: the collector could open neither.
    CHECK_WITH(source.problem().find("Too many open files") != std::string::npos, source.problem());
  }
  waitUntil([&] { return source.counted() == 7; });
  CHECK_EQ(source.problem(), std::string());
}

TEST(limitsRingsToHalfOfTheDescriptors) {
  const TemporaryDirectory directory;
  constexpr int kRings = 60;
  for (int i = 0; i < kRings; ++i) {
    RingWriter ring;
    REQUIRE_EQ(ring.create(directory / std::to_string(i), 4, 4), std::string());
    push(ring, 1, 2);
  }
  rlimit before;
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{64, before.rlim_max};
  REQUIRE_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  TestSource source(directory.path);
  source.drain();
  CHECK_EQ(source.agents(), 32u);
  CHECK_EQ(source.problems().size(), kRings - 32u);
  CHECK_EQ(source.problems().front().reason,
           std::string("32 rings are open, the limit: 16384, or half of the files that this process may open"));
  REQUIRE_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  waitUntil([&] { return source.counted() == 2 * kRings; });
}

TEST(findsRingAmongTenThousandOtherFiles) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 10'000; ++i) {
    const int fd = ::open((directory / ("file-" + std::to_string(i))).c_str(), O_CREAT | O_WRONLY, 0644);
    if (i % 2 == 0 && ::write(fd, "no ring, but a text of more than forty bytes", 44) != 44) std::abort();
    ::close(fd);
  }
  TestSource source(directory.path);
  RingWriter ring;
  REQUIRE_EQ(ring.create(directory / "agent", 4, 1024), std::string());
  for (int i = 0; i < 20; ++i) {
    push(ring, 1, 100);
    if (i == 0) waitUntil([&] { return source.agents() == 1; });
    CHECK_EQ(source.counted(), 100u * (i + 1));
  }
  waitUntil([&] { return source.problems().size() == 10'000; });
}

// The limit holds for all folders together. Once files are removed, the tree lists the files that were beyond the
// limit.
TEST(reportsDirectoryWithTooManyFiles) {
  const TemporaryDirectory directory;
  constexpr size_t kHalf = DirectoryTree::kMaxEntries / 2;
  for (const char* folder : {"one", "two"}) {
    REQUIRE_EQ(::mkdir((directory / folder).c_str(), 0755), 0);
    for (size_t i = 0; i < kHalf + 10; ++i) {
      REQUIRE_EQ(::mknod((directory / folder + "/" + std::to_string(i)).c_str(), S_IFREG | 0644, 0), 0);
    }
    const timespec longAgo[2] = {{1'000'000, 0}, {1'000'000, 0}};
    REQUIRE_EQ(::utimensat(AT_FDCWD, (directory / folder).c_str(), longAgo, 0), 0);
  }
  const std::string problem = "more than 65536 files; the rest is ignored";
  DirectoryTree tree(directory.path, "");
  CHECK(tree.refresh());
  CHECK_EQ(tree.files().size(), DirectoryTree::kMaxEntries - 2);
  CHECK_EQ(tree.problems().at(directory.path), problem);
  tree.refresh();
  CHECK_EQ(tree.files().size(), DirectoryTree::kMaxEntries - 2);
  CHECK_EQ(tree.problems().at(directory.path), problem);
  // Removes files of the folder that was read completely, so that the other folder does not change.
  const auto inOne = [](const FoundFile& file) { return file.agent.starts_with("one/"); };
  const auto ofOne = static_cast<size_t>(std::count_if(tree.files().begin(), tree.files().end(), inOne));
  const std::string folder = directory / (ofOne == kHalf + 10 ? "one" : "two");
  for (size_t i = 0; i < 22; ++i) REQUIRE_EQ(::unlink((folder + "/" + std::to_string(i)).c_str()), 0);
  waitUntil([&] {
    tree.refresh();
    return tree.problems().empty();
  });
  CHECK_EQ(tree.files().size(), 2 * kHalf + 20 - 22);
  std::filesystem::remove_all(folder);
  waitUntil([&] { return tree.refresh() && tree.files().size() < kHalf + 20; });
  for (size_t i = 0; i < 22; ++i) ::mknod((directory / std::to_string(i)).c_str(), S_IFREG | 0644, 0);
  waitUntil([&] {
    tree.refresh();
    return tree.files().size() >= kHalf + 32;
  });
  CHECK(tree.problems().empty());
}

// An mtime of 2^60 seconds is a multiple of 2^64 in nanoseconds, as 0 is. (Some file systems cannot store it.)
TEST(readsDirectoryWithOutOfRangeMtimeAgain) {
  const TemporaryDirectory directory;
  DirectoryTree tree(directory.path, "");
  size_t files = 0;
  for (const time_t seconds : {time_t{0}, time_t{1} << 60, time_t{0}, -(time_t{1} << 60)}) {
    Image(100).writeTo(directory / std::to_string(files++));
    const timespec stamp[2] = {{seconds, 0}, {seconds, 0}};
    REQUIRE_EQ(::utimensat(AT_FDCWD, directory.path.c_str(), stamp, 0), 0);
    CHECK(tree.refresh());
    CHECK_EQ(tree.files().size(), files);
  }
}

// The tree notices the link when it reads the parent directory. If the parent seems unchanged, it notices the link when
// it visits the folder.
TEST(doesNotEnterFolderReplacedByLink) {
  for (const bool isParentReadBefore : {false, true}) {
    const TemporaryDirectory directory;
    const TemporaryDirectory elsewhere;
    Image(100).writeTo(elsewhere / "file");
    REQUIRE_EQ(::mkdir((directory / "folder").c_str(), 0755), 0);
    const timespec longAgo[2] = {{1'000'000, 0}, {1'000'000, 0}};
    REQUIRE_EQ(::utimensat(AT_FDCWD, directory.path.c_str(), longAgo, 0), 0);
    DirectoryTree tree(directory.path, "");
    CHECK(tree.refresh());
    ::rmdir((directory / "folder").c_str());
    REQUIRE_EQ(::symlink(elsewhere.path.c_str(), (directory / "folder").c_str()), 0);
    if (isParentReadBefore) REQUIRE_EQ(::utimensat(AT_FDCWD, directory.path.c_str(), longAgo, 0), 0);
    tree.refresh();
    if (isParentReadBefore) {
      CHECK_EQ(tree.files().size(), 0u);
    } else {
      REQUIRE_EQ(tree.files().size(), 1u);
      CHECK_EQ(std::string(tree.files()[0].problem), std::string("a symbolic link, which is not followed"));
    }
  }
}

TEST(reportsUnreadableFolder) {
  const TemporaryDirectory directory;
  const std::string folder = directory / "folder";
  REQUIRE_EQ(::mkdir(folder.c_str(), 0700), 0);
  REQUIRE_EQ(::chmod(directory.path.c_str(), 0755), 0);
  DirectoryTree tree(directory.path, "");
  const bool isRoot = ::geteuid() == 0;
  if (isRoot) REQUIRE_EQ(::seteuid(65'534), 0);
  if (!isRoot) REQUIRE_EQ(::chmod(folder.c_str(), 0), 0);
  tree.refresh();
  CHECK_EQ(tree.problems().size(), 1u);
  CHECK_EQ(tree.problems().at(folder), std::string("Permission denied"));
  if (isRoot) REQUIRE_EQ(::seteuid(0), 0);
  REQUIRE_EQ(::chmod(folder.c_str(), 0700), 0);
  tree.refresh();
  CHECK(tree.problems().empty());
}

TEST(followsMissingDeletedAndRecreatedDirectory) {
  const TemporaryDirectory parent;
  const std::string directory = parent / "rings";
  TestSource source(directory);
  source.drain();
  CHECK_EQ(source.agents(), 0u);
  for (uint64_t round = 1; round <= 3; ++round) {
    REQUIRE_EQ(::mkdir(directory.c_str(), 0755), 0);
    RingWriter ring;
    REQUIRE_EQ(ring.create(directory + "/agent", 4, 64), std::string());
    push(ring, 1, 20);
    waitUntil([&] { return source.counted() == 30 * round - 10; });
    std::filesystem::remove_all(directory);
    push(ring, 21, 10);  // the agent still maps the unlinked file and writes
    CHECK_EQ(source.counted(), 30 * round);
  }
}

TEST(saysThatARingWasDeletedUnderALivingAgent) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  AgentProcess first(path);
  AgentProcess kept(directory / "kept");
  TestSource source(directory.path);
  const auto deleted = [&] {
    const std::vector<RingProblem> problems = source.problems();
    for (const RingProblem& one : problems) CHECK_EQ(one.path, path);
    return problems.size() == 1 && problems[0].state == RingState::kDeleted;
  };
  first.write(10);
  kept.write(10);
  waitUntil([&] { return source.alive("agent") && source.alive("kept"); });
  CHECK_EQ(source.problem(), std::string());
  REQUIRE_EQ(::unlink(path.c_str()), 0);
  waitUntil(deleted);
  first.write(5);
  CHECK_EQ(source.counted("agent"), 15u);
  // Another agent of its name makes a ring that lasts. The first one still writes the deleted file.
  AgentProcess second(path);
  second.write(3);
  waitUntil([&] { return source.counted("agent") == 18; });
  waitForTicks(3000);
  CHECK(deleted());
  first.kill();
  waitUntil([&] { return source.problems().empty(); });
  CHECK_EQ(source.counted("agent"), 18u);
}

// Processes of another user or PID namespace, and this one, are not seen as writers. NIXL takes no lock.
TEST(takesOnlyEventsAsProofThatAnUnseenAgentWritesADeletedRing) {
  const TemporaryDirectory directory;
  RingWriter silent(WriterLock::kNone);
  RingWriter active(WriterLock::kNone);
  REQUIRE_EQ(silent.create(directory / "silent", 4, 64), std::string());
  REQUIRE_EQ(active.create(directory / "active", 4, 64), std::string());
  TestSource source(directory.path);
  push(silent, 1, 10);
  push(active, 1, 10);
  waitUntil([&] { return source.counted() == 20; });
  std::filesystem::remove_all(directory.path);
  uint64_t events = 10;
  waitUntil([&] {
    push(active, 1, 1);
    ++events;
    REQUIRE_EQ(source.counted("active"), events);
    return !source.problems().empty();
  });
  REQUIRE_EQ(source.problems().size(), 1u);
  CHECK_EQ(source.problems()[0].path, directory / "active");
}

TEST(reportsReplacementOfRingAndDrainsRingToItsEnd) {
  const TemporaryDirectory directory;
  const TemporaryDirectory elsewhere;
  RingWriter decoy;
  REQUIRE_EQ(decoy.create(elsewhere / "decoy", 4, 64), std::string());
  push(decoy, 1, 3);
  const std::string path = directory / "agent";
  struct Replacement {
    const char* description;
    std::function<int()> make;
  };
  const Replacement replacements[] = {
      {"a symbolic link", [&] { return ::symlink((elsewhere / "decoy").c_str(), path.c_str()); }},
      {"a fifo", [&] { return ::mkfifo(path.c_str(), 0644); }},
      {"a device", [&] { return ::mknod(path.c_str(), S_IFCHR | 0644, makedev(1, 5)); }},  // /dev/zero
      {"", [&] { return ::mkdir(path.c_str(), 0755); }},  // a folder is read, not reported
  };
  TestSource source(directory.path);
  uint64_t expected = 0;
  for (const Replacement& replacement : replacements) {
    std::filesystem::remove_all(path);
    RingWriter ring;
    REQUIRE_EQ(ring.create(path, 4, 64), std::string());
    push(ring, 1, 10);
    waitUntil([&] { return source.counted("agent") == expected + 10; });
    REQUIRE_EQ(::unlink(path.c_str()), 0);
    if (replacement.make() != 0) {
      CHECK(errno == EPERM);  // only root can create devices
      expected += 10;
      continue;
    }
    push(ring, 11, 5);
    expected += 15;
    CHECK_EQ(source.counted(), expected);
    const std::string description(replacement.description);
    waitUntil([&] {
      return description.empty() ? source.problem().empty() : source.problem().find(description) != std::string::npos;
    });
  }
  CHECK_EQ(decoy.pending(), 3u);
}

TEST(countsRenamedRingUnderItsFirstName) {
  const TemporaryDirectory directory;
  RingWriter ring;
  REQUIRE_EQ(ring.create(directory / "before", 4, 64), std::string());
  TestSource source(directory.path);
  push(ring, 1, 10);
  waitUntil([&] { return source.counted("before") == 10; });
  REQUIRE_EQ(::rename((directory / "before").c_str(), (directory / "after").c_str()), 0);
  push(ring, 11, 5);
  waitUntil([&] { return !source.problem().empty(); });
  CHECK_EQ(source.counted("before"), 15u);
  CHECK_EQ(source.counted(), 15u);
  CHECK_EQ(source.problem(), "busy: already drained as " + (directory / "before"));
}

// Before that, another file has the ring's name: a file that is no ring, or another ring, which counts for the same
// agent.
TEST(acceptsRingThatIsRenamedBack) {
  for (const bool anotherRing : {false, true}) {
    const TemporaryDirectory directory;
    const TemporaryDirectory elsewhere;
    const std::string path = directory / "agent";
    RingWriter ring;
    REQUIRE_EQ(ring.create(path, 4, 64), std::string());
    TestSource source(directory.path);
    push(ring, 1, 10);
    waitUntil([&] { return source.counted("agent") == 10; });
    REQUIRE_EQ(::rename(path.c_str(), (elsewhere / "agent").c_str()), 0);
    RingWriter other;
    if (anotherRing) {
      REQUIRE_EQ(other.create(path, 4, 64), std::string());
      push(other, 1, 3);
      waitUntil([&] { return source.counted("agent") == 13; });
      REQUIRE_EQ(::unlink(path.c_str()), 0);
    }
    Image(100).writeTo(path);
    waitUntil([&] { return !source.problem().empty(); });
    REQUIRE_EQ(::rename((elsewhere / "agent").c_str(), path.c_str()), 0);
    push(ring, 11, 5);
    waitUntil([&] { return source.problem().empty(); });
    CHECK_EQ(source.counted("agent"), anotherRing ? 18u : 15u);
    // A new name makes the collector read the directory once more. The ring must cause no problem then.
    ::close(::open((directory / "next").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    waitUntil([&] { return !source.problem().empty(); });
    CHECK_EQ(source.problem(), std::string("initializing: the file is empty"));
  }
}

// The ring belongs to one agent as long as one of its names is left, also if the first name is removed.
TEST(countsRingWithTwoNamesOnce) {
  const TemporaryDirectory directory;
  RingWriter ring;
  REQUIRE_EQ(ring.create(directory / "one", 4, 64), std::string());
  REQUIRE_EQ(::link((directory / "one").c_str(), (directory / "two").c_str()), 0);
  push(ring, 1, 10);
  TestSource source(directory.path);
  waitUntil([&] { return source.counted() == 10; });
  CHECK_EQ(source.agents(), 1u);
  const std::string first = source.counted("one") == 10 ? "one" : "two";
  CHECK_EQ(source.problem(), "busy: already drained as " + (directory / first));
  REQUIRE_EQ(::unlink((directory / first).c_str()), 0);
  push(ring, 11, 5);
  CHECK_EQ(source.counted(first), 15u);
  CHECK_EQ(source.counted(), 15u);
}

TEST(reportsAttachedRingThatBecomesIncompatible) {
  const TemporaryDirectory directory;
  RingWriter ring;
  REQUIRE_EQ(ring.create(directory / "agent", 4, 64), std::string());
  TestSource source(directory.path);
  push(ring, 1, 10);
  waitUntil([&] { return source.counted() == 10; });
  store(directory / "agent", 16, int32_t{9});
  push(ring, 11, 5);
  CHECK_EQ(source.counted(), 10u);
  CHECK_EQ(source.problem(), "incompatible: wire version 9 is not known (" + knownVersions() + ")");
  store(directory / "agent", 16, int32_t{4});
  waitUntil([&] { return source.counted() == 15; });
  CHECK_EQ(source.problem(), std::string());
}

// fullMs grows while the ring is found full, and never falls.
TEST(countsAndTimesFullRing) {
  const TemporaryDirectory directory;
  TestSource source(directory.path);
  RingWriter ring;
  REQUIRE_EQ(ring.create(directory / "agent", 4, 64), std::string());
  push(ring, 1, 1);
  waitUntil([&] { return source.counted() == 1; });
  AgentStatus status;
  const auto readStatus = [&] {
    source.snapshot([&](const SourceAgent&, const AgentStatus& s, const Tally&) { status = s; });
  };
  RingEvent event;
  waitUntil([&] {
    for (int i = 0; i < 200; ++i) ring.push(event);
    readStatus();
    return status.drains.foundFull >= 5;
  });
  CHECK(status.fullMs > 0);
  const double before = status.fullMs;
  source.drain();
  source.drain();
  readStatus();
  CHECK(status.fullMs >= before);
}

// A service that adds the counts of two consecutive tallies must not count a restart twice.
TEST(countsNothingThatPrecedesTheTally) {
  const TemporaryDirectory directory;
  TestSource first(directory.path);
  auto ring = std::make_unique<RingWriter>();
  REQUIRE_EQ(ring->create(directory / "agent", 4, 64), std::string());
  const auto restart = [&](uint32_t restarts) {
    ring = std::make_unique<RingWriter>();
    REQUIRE_EQ(ring->create(directory / "agent", 4, 64), std::string());
    waitUntil([&] {
      first.drain();
      return first.status("agent").drains.restarts == restarts;
    });
  };
  waitUntil([&] { return first.agents() == 1; });
  RingEvent event;
  waitUntil([&] {
    for (int i = 0; i < 200; ++i) ring->push(event);
    return first.status("agent").fullMs > 0;
  });
  restart(1);

  SourceOptions options = TestSource::optionsFor(directory.path, milliseconds(30'000));
  options.tally.bounds = {{2}};  // with the same options it would share the tally
  TestSource second(options);
  waitUntil([&] { return second.agents() == 1; });
  const AgentStatus begin = second.status("agent");
  CHECK(begin.drains == DrainStats{});
  CHECK_EQ(begin.fullMs, 0.0);
  CHECK(first.status("agent").drains.foundFull >= 1);

  restart(2);
  CHECK_EQ(second.status("agent").drains.restarts, 1u);
  CHECK_EQ(second.status("agent").drains.resyncs, 1u);
}

int main() { return check::run("collector_faults_test"); }
