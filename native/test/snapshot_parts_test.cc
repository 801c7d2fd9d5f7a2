// Snapshots that are taken in parts, between which agents appear, end and are released.
#include <unistd.h>

#include <string>
#include <vector>

#include "check.h"
#include "collector/collector.h"
#include "ring/ring_writer.h"
#include "temporary_directory.h"
#include "test_source.h"

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

// A snapshot of at most `most` agents per part, and the agents that it has visited.
struct Parts {
  Parts(const TestSource& of, uint32_t reader) : source(*of.handle), reader(reader) {}

  // Takes a part. False if it was the last one.
  bool next(size_t most) {
    const auto note = [&](const SourceAgent& seen, const AgentStatus&, const Tally&) { visited.push_back(seen.name); };
    WaitBudget forEver;
    CHECK(Collector::instance().snapshotPart(source, place, most, note, forEver));
    if (place.isComplete) Collector::instance().noteRead(source, reader, place, forEver);
    return !place.isComplete;
  }

  Source& source;
  uint32_t reader;
  SnapshotPlace place;
  std::vector<std::string> visited;
};

bool lists(TestSource& source, const std::string& agent) {
  bool found = false;
  source.snapshot([&](const SourceAgent& seen, const auto&, const auto&) { found |= seen.name == agent; });
  return found;
}

}  // namespace

TEST(visitsEachAgentOnceWhileOthersAppearAndEnd) {
  const TemporaryDirectory directory;
  std::vector<RingWriter> rings(6);
  for (size_t i = 0; i < 5; ++i) REQUIRE_EQ(rings[i].create(directory / std::to_string(2 * i), 4, 64), std::string());
  for (size_t i = 0; i < 5; ++i) push(rings[i], 1, 1);
  TestSource source(directory.path, milliseconds(0));
  source.drain();
  Parts parts(source, Source::kNoReader);
  CHECK(parts.next(2));
  REQUIRE_EQ(rings[5].create(directory / "7", 4, 64), std::string());
  push(rings[5], 1, 1);
  for (const size_t ended : {1u, 2u}) {  // "2" is the last one that was visited
    rings[ended].close();
    ::unlink((directory / std::to_string(2 * ended)).c_str());
  }
  waitUntil([&] { return lists(source, "7") && !lists(source, "2") && !lists(source, "4"); });
  CHECK(parts.next(2));
  CHECK(!parts.next(2));
  const std::vector<std::string> expected{"0", "2", "6", "7", "8"};
  CHECK(parts.visited == expected);
}

TEST(keepsLastValuesOfAgentThatEndsBetweenParts) {
  const TemporaryDirectory directory;
  // Before the source: a process inherits the mappings of rings that are attached, and looks like their writer.
  AgentProcess ending(directory / "a");
  AgentProcess other(directory / "b");
  TestSource source(directory.path, milliseconds(0));
  Collector& collector = Collector::instance();
  const uint32_t reader = collector.addReader(source.handle);
  waitUntil([&] { return source.alive("a") && source.alive("b"); });
  Parts parts(source, reader);
  CHECK(parts.next(1));
  ending.write(5);
  ending.kill();
  waitUntil([&] { return source.status("a").life == Life::kDead; });
  CHECK(!parts.next(1));
  waitForTicks(600);  // the collector checks lives twice a second
  CHECK(lists(source, "a"));
  Parts whole(source, reader);
  CHECK(!whole.next(2));
  waitUntil([&] { return !lists(source, "a"); });
}

TEST(releasesRingsBetweenParts) {
  const TemporaryDirectory directory;
  AgentProcess ending(directory / "a");  // before the source, as above
  AgentProcess other(directory / "b");
  TestSource source(directory.path, milliseconds(0));
  waitUntil([&] { return source.alive("a") && source.alive("b"); });
  Parts parts(source, Source::kNoReader);
  CHECK(parts.next(1));
  ending.kill();
  waitUntil([&] { return !lists(source, "a"); });
  RingState state;
  std::string reason;
  const auto reader = RingReader::open(directory / "a", false, state, reason);
  CHECK_EQ(reason, std::string());
  CHECK(reader != nullptr);
  CHECK(!parts.next(1));
}

int main() { return check::run("snapshot_parts_test"); }
