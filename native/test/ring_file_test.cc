// States of a file that is opened, each with all of its causes.
#include "ring/ring_file.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"
#include "temporary_directory.h"

using namespace nixl_otel;

namespace {

Image wellFormed() { return Image::headerA(4, 16, 16, 5, 2); }

RingState opened(const std::string& path, RingAccess access = RingAccess::kDrain) {
  return RingFile::open(path, access, false).state;
}

RingState stateOf(const Image& image) {
  const TemporaryDirectory directory;
  image.writeTo(directory / "agent");
  return opened(directory / "agent");
}

}  // namespace

TEST(opensWellFormedRingOfEveryVersion) {
  CHECK_EQ(stateOf(Image::headerA(1, 16, 56, 5, 2)), RingState::kReady);
  CHECK_EQ(stateOf(Image::headerA(2, 16, 16, 15, 15)), RingState::kReady);
  CHECK_EQ(stateOf(Image::headerA(2, 16, 48, 0, 0)), RingState::kReady);
  CHECK_EQ(stateOf(Image::headerA(3, 2, 16, 1, 0)), RingState::kReady);
  CHECK_EQ(stateOf(wellFormed()), RingState::kReady);
  CHECK_EQ(stateOf(Image::headerB(16, 16, 5, 2)), RingState::kReady);
}

TEST(reportsAbsentAndInitializingRings) {
  const TemporaryDirectory directory;
  CHECK_EQ(opened(directory / "agent"), RingState::kAbsent);
  CHECK_EQ(opened(directory / "no-folder/agent"), RingState::kAbsent);
  CHECK_EQ(stateOf(Image(0)), RingState::kInitializing);
  CHECK_EQ(stateOf(Image(296, 0)), RingState::kInitializing);  // has its size, but no header yet
  CHECK_EQ(stateOf(wellFormed().put(16, int32_t{0})), RingState::kInitializing);
  CHECK_EQ(stateOf(wellFormed().put(20, int32_t{0})), RingState::kInitializing);
}

TEST(reportsInconsistentHeaderAsCorrupt) {
  CHECK_EQ(stateOf(Image(39, 0)), RingState::kCorrupt);
  for (const uint64_t capacity :
       {uint64_t{0}, uint64_t{1}, uint64_t{3}, uint64_t{17}, uint64_t{1} << 25, uint64_t{1} << 60, UINT64_MAX}) {
    CHECK_WITH(stateOf(wellFormed().put(24, capacity)) == RingState::kCorrupt, std::to_string(capacity));
  }
  CHECK_EQ(stateOf(wellFormed().put(32, uint64_t{16})), RingState::kCorrupt);  // mask
  CHECK_EQ(stateOf(wellFormed().put(32, uint64_t{7})), RingState::kCorrupt);   // mask of another capacity
  CHECK_EQ(stateOf(wellFormed().put(0, uint64_t{16})), RingState::kCorrupt);   // write_pos past the capacity
  CHECK_EQ(stateOf(wellFormed().put(8, UINT64_MAX)), RingState::kCorrupt);     // read_pos
  CHECK_EQ(stateOf(wellFormed().resize(40 + 15 * 16)), RingState::kCorrupt);   // truncated inside the slots
  CHECK_EQ(stateOf(wellFormed().resize(40 + 16 * 16 + 1)), RingState::kCorrupt);
  CHECK_EQ(stateOf(wellFormed().put(16, int32_t{1}).put(20, int32_t{1})), RingState::kCorrupt);  // slots of version 4
  // A release may give the draft's number to another header, such as that of versions 1 to 4.
  CHECK_EQ(stateOf(wellFormed().put(16, int32_t{5}).put(20, int32_t{5})), RingState::kIncompatible);
}

TEST(reportsUnknownVersionAsIncompatible) {
  for (const int32_t version : {kLastVersion + 1, kLastVersion + 2, 999}) {
    CHECK_EQ(stateOf(wellFormed().put(16, version).put(20, version)), RingState::kIncompatible);
  }
  // The last one is a text.
  for (const int32_t version : {-1, 1000, 0x20656874}) {
    CHECK_EQ(stateOf(wellFormed().put(16, version).put(20, version)), RingState::kCorrupt);
  }
}

TEST(opensRegularFilesOnly) {
  const TemporaryDirectory directory;
  wellFormed().writeTo(directory / "ring");
  REQUIRE_EQ(::symlink((directory / "ring").c_str(), (directory / "link").c_str()), 0);
  REQUIRE_EQ(::mkfifo((directory / "fifo").c_str(), 0644), 0);  // open() would block
  REQUIRE_EQ(::mkdir((directory / "folder").c_str(), 0755), 0);
  for (const char* name : {"link", "fifo", "folder"}) CHECK_EQ(opened(directory / name), RingState::kCorrupt);
  CHECK_EQ(opened("/dev/null"), RingState::kCorrupt);
}

TEST(refusesNameOfStateFolder) {
  const TemporaryDirectory directory;
  wellFormed().writeTo(directory / ".nixl-otel");
  CHECK_EQ(opened(directory / ".nixl-otel"), RingState::kCorrupt);
  wellFormed().writeTo(directory / ".nixl");
  CHECK_EQ(opened(directory / ".nixl"), RingState::kReady);
}

TEST(reportsLockedRingAsBusy) {
  const TemporaryDirectory directory;
  const Image image = wellFormed();
  image.writeTo(directory / "agent");
  {
    const RingFile first = RingFile::open(directory / "agent", RingAccess::kDrain, false);
    CHECK_EQ(first.state, RingState::kReady);
    CHECK_EQ(opened(directory / "agent"), RingState::kBusy);
    CHECK_EQ(opened(directory / "agent", RingAccess::kObserve), RingState::kReady);  // observing needs no lock
  }
  CHECK_EQ(opened(directory / "agent"), RingState::kReady);
}

// As root, the child becomes the user `nobody`, which does not own the rings. As another user, the test removes
// permissions of the files instead.
TEST(observesButDoesNotDrainRingOfAnotherUser) {
  const TemporaryDirectory directory;
  const bool isRoot = ::geteuid() == 0;
  wellFormed().writeTo(directory / "agent");
  wellFormed().writeTo(directory / "secret");
  REQUIRE_EQ(::chmod((directory / "agent").c_str(), isRoot ? 0644 : 0444), 0);
  REQUIRE_EQ(::chmod((directory / "secret").c_str(), isRoot ? 0600 : 0), 0);
  REQUIRE_EQ(::chmod(directory.path.c_str(), 0755), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (isRoot && ::setuid(65534) != 0) ::_exit(9);
    const bool right = opened(directory / "agent") == RingState::kDenied &&
                       opened(directory / "agent", RingAccess::kObserve) == RingState::kReady &&
                       opened(directory / "secret", RingAccess::kObserve) == RingState::kDenied;
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main() { return check::run("ring_file_test"); }
