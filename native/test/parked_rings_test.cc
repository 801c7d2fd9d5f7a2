// Rings that change during their release. The collector looks the file up by its name between the last drain and the
// release. The tests replace the functions of this lookup, and change the ring there.

#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <vector>

#include "check.h"
#include "ring/parked_ring.h"
#include "temporary_directory.h"
#include "test_reader.h"
#include "test_source.h"

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

// The collector's thread runs `action` once, at the next lookup of this file.
std::string watchedPath;
std::function<void()> action;
std::atomic<bool> armed{false};

int interceptLookup(const char* path, struct stat* info, int flags) {
  if (armed && watchedPath == path) {
    action();
    armed = false;
  }
  return ::fstatat(AT_FDCWD, path, info, flags);
}

void onNextLookup(const std::string& path, std::function<void()> what) {
  watchedPath = path;
  action = std::move(what);
  armed = true;
}

// Sets an old mtime, so that the collector reads the directory only once and makes no further lookup for its files.
void ageDirectory(const TemporaryDirectory& directory) {
  const timespec longAgo[2] = {{1'000'000, 0}, {1'000'000, 0}};
  if (::utimensat(AT_FDCWD, directory.path.c_str(), longAgo, 0) != 0) std::abort();
}

}  // namespace

// Replace functions of the C library in the whole program. stat() reports an old ctime, so that no file is young.
extern "C" __attribute__((visibility("default"))) int stat(const char* path, struct stat* info) noexcept {
  const int result = interceptLookup(path, info, 0);
  if (result == 0) info->st_ctim.tv_sec -= 3600;
  return result;
}
extern "C" __attribute__((visibility("default"))) int lstat(const char* path, struct stat* info) noexcept {
  return interceptLookup(path, info, AT_SYMLINK_NOFOLLOW);
}

TEST(countsAgentThatRestartsDuringRelease) {
  const TemporaryDirectory directory;
  AgentProcess agent(directory / "agent");
  ageDirectory(directory);
  TestSource source(directory.path, milliseconds(0));
  agent.write(10);
  waitUntil([&] { return source.counted() == 10 && source.alive("agent"); });
  RingWriter next;
  onNextLookup(directory / "agent", [&] {
    if (!next.create(directory / "agent", 4, 1024).empty()) std::abort();
  });
  agent.kill();
  waitUntil([&] {
    source.agents();
    return !armed;
  });
  push(next, 1, 7);
  waitUntil([&] { return source.counted() == 7; });
}

TEST(noticesRestartOfIdleAgent) {
  const TemporaryDirectory directory;
  TestSource source(directory.path, milliseconds(0));
  for (int incarnation = 0; incarnation < 2; ++incarnation) {
    AgentProcess agent(directory / "agent");  // writes no event, so its header does not change
    waitUntil([&] { return source.alive("agent"); });
    agent.kill();
    waitUntil([&] { return source.agents() == 0; });
  }
}

TEST(keepsDeadAgentForTtlOfItsOwnSourcesOnly) {
  const TemporaryDirectory elsewhere;
  const TemporaryDirectory directory;
  const TestSource patient(elsewhere.path, std::chrono::hours(24));
  TestSource source(directory.path, milliseconds(0));
  AgentProcess agent(directory / "agent");
  waitUntil([&] { return source.alive("agent"); });
  agent.kill();
  waitUntil([&] { return source.agents() == 0; });
}

TEST(countsEventsWrittenBetweenLastDrainAndRelease) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter ring;
  REQUIRE_EQ(ring.create(path, 4, 64), std::string());
  ring.close();  // no visible writer
  ageDirectory(directory);
  onNextLookup(path, [&] { store(path, 0, uint64_t{3}); });
  TestSource source(directory.path);
  waitUntil([&] { return !armed && source.counted() == 3; });
}

// Neither the ctime nor the size of the file shows these events.
TEST(countsEventsThatAnUnseenWriterWritesThroughItsOldMapping) {
  const TemporaryDirectory directory = TemporaryDirectory::inMemory();
  const std::string path = directory / "agent";
  RingWriter ring(WriterLock::kNone);
  REQUIRE_EQ(ring.create(path, 4, 64), std::string());  // this process is not taken for a writer
  TestSource source(directory.path);
  waitUntil([&] { return load<int32_t>(path, 20) != 4; });  // attached
  waitUntil([&] { return load<int32_t>(path, 20) == 4; });  // released
  waitUntil([&] { return source.agents() == 0; });
  push(ring, 1, 5);
  waitUntil([&] { return source.counted() == 5; });
}

TEST(noticesEachChangeOfAParkedRing) {
  const TemporaryDirectory directory = TemporaryDirectory::inMemory();
  const std::string path = directory / "agent";
  const auto changes = std::vector<std::function<void(RingWriter&)>>{
      [&](RingWriter& ring) { push(ring, 1, 1); },
      [&](RingWriter&) { store(path, 8, uint64_t{1}); },
      [&](RingWriter&) { store(path, 16, int32_t{0}); },
      [&](RingWriter&) { store(path, 20, int32_t{0}); },
      [&](RingWriter&) { store(path, 24, uint64_t{32}); },
      [&](RingWriter&) { std::filesystem::permissions(path, std::filesystem::perms::owner_all); },
      [&](RingWriter&) { std::filesystem::resize_file(path, 0); },
      [&](RingWriter&) { std::filesystem::resize_file(path, 100'000); },
      [&](RingWriter&) { std::filesystem::remove(path); },
      [&](RingWriter&) { std::filesystem::rename(directory / "other", path); },
  };
  for (const bool mayMap : {true, false}) {
    for (size_t i = 0; i < changes.size(); ++i) {
      RingWriter ring;
      REQUIRE_EQ(ring.create(path, 4, 64), std::string());
      RingWriter other;
      REQUIRE_EQ(other.create(directory / "other", 4, 64), std::string());
      const HeaderFields header = peekHeader(path, *fileAt(path));
      REQUIRE(header.empty());
      ParkedRing parked(path, *fileAt(path), header, mayMap);
      CHECK_EQ(parked.isMapped(), mayMap);
      CHECK(!parked.hasNewHeader() && !parked.hasChanged());
      changes[i](ring);
      CHECK_WITH(parked.hasChanged(), "change " + std::to_string(i));
      if (i < 5 || i == 6) CHECK_WITH(parked.hasNewHeader() == mayMap, "change " + std::to_string(i));
      ring.close();
      other.close();
      std::filesystem::remove(path);
      std::filesystem::remove(directory / "other");
    }
  }
}

int main() { return check::run("parked_rings_test"); }
