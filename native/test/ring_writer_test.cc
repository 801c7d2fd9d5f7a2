// Files that a writer accepts, and files that it refuses and leaves unchanged.
#include "ring/ring_writer.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <iterator>

#include "check.h"
#include "temporary_directory.h"
#include "test_reader.h"

using namespace nixl_otel;

namespace {

const std::string kText(5000, 'x');

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string problemAt(const std::string& path) { return RingWriter().create(path, 4, 4); }

struct stat statOf(const std::string& path) {
  struct stat file = {};
  ::stat(path.c_str(), &file);
  return file;
}

}  // namespace

TEST(followsNoLinkAtAgentName) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "secret") << kText;
  std::filesystem::create_symlink(directory / "secret", directory / "agent");
  std::filesystem::create_symlink(directory / "new", directory / "dangling");
  for (const char* name : {"agent", "dangling"}) {
    CHECK_EQ(problemAt(directory / name),
             "cannot open " + (directory / name) + ": it is a symbolic link, which is not followed");
  }
  CHECK(contents(directory / "secret") == kText);
  CHECK(!std::filesystem::exists(directory / "new"));
}

// The writer must not wait for another process at the other end of the fifo.
TEST(refusesNameOfStateFolder) {
  const TemporaryDirectory directory;
  for (const char* name : {".nixl-otel", ".nixl-otel/agent"}) {
    CHECK_EQ(problemAt(directory / name),
             "cannot make a ring at " + (directory / name) + ": consumers keep their state in .nixl-otel");
  }
  CHECK(!std::filesystem::exists(directory / ".nixl-otel"));
  CHECK_EQ(problemAt(directory / ".nixl-otel-1"), "");
}

TEST(refusesOtherThanRegularFiles) {
  const TemporaryDirectory directory;
  REQUIRE_EQ(::mkfifo((directory / "fifo").c_str(), 0644), 0);
  std::filesystem::create_directory(directory / "folder");
  for (const char* name : {"fifo", "folder"}) {
    CHECK_EQ(problemAt(directory / name), "cannot open " + (directory / name) + ": it is not a regular file");
  }
}

TEST(leavesFileOfAnotherUserUnchanged) {
  if (::geteuid() != 0) return;  // only root can give files away
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  std::ofstream(path) << kText;
  REQUIRE_EQ(::chown(path.c_str(), 4711, 4711), 0);
  CHECK_EQ(problemAt(path),
           "cannot open " + path + ": it belongs to user 4711, but this process writes only files of its user 0");
  CHECK(contents(path) == kText);
}

TEST(reportsWhyFileCannotBeCreated) {
  const TemporaryDirectory directory;
  CHECK_EQ(problemAt(directory / "missing/agent"),
           "cannot open " + (directory / "missing/agent") + ": No such file or directory");
}

TEST(reusesOwnFileInPlace) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter before;
  REQUIRE_EQ(before.create(path, 4, 64), std::string());
  const struct stat first = statOf(path);
  before.close();
  RingWriter after;
  REQUIRE_EQ(after.create(path, 5, 16), std::string());
  const struct stat second = statOf(path);
  CHECK_EQ(second.st_ino, first.st_ino);
  CHECK_EQ(static_cast<uint64_t>(second.st_size), releasedLayout(5)->fileSize(16));
  CHECK(after.push(RingEvent()));
  CHECK_EQ(after.pending(), 1u);
}

// In one process and in two: a lock of the open file description holds against both.
TEST(refusesFileOfLivingWriter) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter first;
  REQUIRE_EQ(first.create(path, 4, 64), std::string());
  push(first, 1, 5);
  const std::string ring = contents(path);
  const std::string inUse = path +
                            " is in use: another writer holds this ring. A ring has one writer; give each its own name "
                            "or directory";
  RingWriter second;
  CHECK_EQ(second.create(path, 5, 16), inUse);
  CHECK(second.state() == WriterState::kInUse);
  const pid_t child = ::fork();
  if (child == 0) {
    RingWriter other;
    ::_exit(other.create(path, 4, 64) == inUse && other.state() == WriterState::kInUse ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
  CHECK(contents(path) == ring);
  CHECK(first.push(RingEvent()));
  first.close();
  CHECK_EQ(second.create(path, 4, 64), std::string());
  CHECK(second.state() == WriterState::kOpen);
}

// A child has the descriptors of its parent until its exec(), for as long as the machine lets it wait.
TEST(unlocksFileThatAChildStillHasOpen) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter first;
  REQUIRE_EQ(first.create(path, 4, 64), std::string());
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  first.close();
  RingWriter second;
  CHECK_EQ(second.create(path, 4, 64), std::string());
  // The child of a writer that lives takes no lock away from it.
  const pid_t other = ::fork();
  if (other == 0) {
    second.close();
    ::_exit(0);
  }
  ::waitpid(other, nullptr, 0);
  CHECK(first.create(path, 4, 64) != std::string());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

// A consumer's lock is one of another kind.
TEST(makesRingThatConsumerHolds) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter ring;
  REQUIRE_EQ(ring.create(path, 4, 64), std::string());
  TestReader reader(path);
  REQUIRE(reader.reader != nullptr);
  push(ring, 1, 3);
  CHECK_EQ(reader.values().size(), 3u);
  ring.close();
  CHECK_EQ(ring.create(path, 4, 64), std::string());
}

// A second writer that takes no lock, as an agent does, or one that a fork has made.
TEST(stopsWhereAnotherProgramWrites) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter ring;
  REQUIRE_EQ(ring.create(path, 4, 64), std::string());
  push(ring, 1, 3);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(ring.push(RingEvent()) ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
  CHECK(!ring.push(RingEvent()));
  CHECK(ring.state() == WriterState::kOvertaken);
  CHECK(ring.open());
  ring.close();
  REQUIRE_EQ(ring.create(path, 4, 64), std::string());
  CHECK(ring.push(RingEvent()));
  RingWriter agent(WriterLock::kNone);
  REQUIRE_EQ(agent.create(path, 4, 64), std::string());
  CHECK(!ring.push(RingEvent()));
  CHECK(agent.push(RingEvent()));
  CHECK(!ring.push(RingEvent()));
}

int main() { return check::run("ring_writer_test"); }
