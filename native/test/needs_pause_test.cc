// Rings that need pauses, at a lap's end or after a restart. The collector drains them after all others. Until then it
// must not release them or serve a request, and it must not count them twice.

#include "check.h"
#include "collector/agent.h"
#include "stepped_ring.h"
#include "temporary_directory.h"
#include "test_source.h"

using namespace nixl_otel;

namespace {

constexpr std::chrono::hours kNever{24};

// Returns options with so long an interval that the collector ticks only on requests.
SourceOptions onlyAsked(const TemporaryDirectory& directory) {
  SourceOptions options = TestSource::optionsFor(directory.path, std::chrono::milliseconds(30'000));
  options.drainInterval = kNever;
  return options;
}

}  // namespace

TEST(drainsReplacedRingBeforeItsRelease) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter writer;
  REQUIRE_EQ(writer.create(path, 4, 16), std::string());
  RingState state;
  std::string reason;
  Agent agent(path, RingReader::open(path, false, state, reason), nullptr);
  const auto plan = std::make_shared<const TallyPlan>(TestSource::optionsFor("/", std::chrono::milliseconds(1)).tally);
  const auto slot = agent.acquireTally(plan, false);
  ChunkBuffer buffer;
  const auto drain = [&](PausePolicy pauses) { return agent.drain(65'536, buffer, Clock::now(), pauses); };
  const auto counted = [&] {
    uint64_t sum = 0;
    WaitBudget forEver;
    agent.read(*slot, forEver, [&](const AgentStatus&, const Tally& tally) {
      for (const EventTally& event : tally.events()) sum += event.count;
    });
    return sum;
  };
  push(writer, 1, 10);
  drain(PausePolicy::kAlways);
  const FileId replaced = agent.file();
  REQUIRE_EQ(::unlink(path.c_str()), 0);
  RingWriter next;
  REQUIRE_EQ(next.create(path, 4, 16), std::string());
  agent.replaceRing(RingReader::open(path, false, state, reason));

  // The writer of the replaced ring writes up to the lap's end and ends.
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  agent.noteWriters({replaced}, {{replaced, {{child, processStartTime(child)}}}});
  push(writer, 11, 6);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ProcessProbes probes;
  agent.checkLife(Clock::now(), probes, false);

  CHECK(drain(PausePolicy::kNever).needsPause);
  CHECK_EQ(agent.rings(), 2u);
  drain(PausePolicy::kAlways);
  CHECK_EQ(agent.rings(), 1u);
  CHECK_EQ(counted(), 16u);
}

TEST(countsRestartWithAnotherCapacityInRequestedDrain) {
  const TemporaryDirectory directory;
  RingWriter writer;
  REQUIRE_EQ(writer.create(directory / "agent", 4, 16), std::string());
  TestSource source(onlyAsked(directory));
  push(writer, 1, 3);
  CHECK_EQ(source.counted(), 3u);
  uint64_t expected = 3;
  for (const uint64_t capacity : {64, 64, 8}) {
    writer.close();
    REQUIRE_EQ(writer.create(directory / "agent", 4, capacity), std::string());
    push(writer, 1, 5);
    CHECK_EQ(source.counted(), expected += 5);
  }
}

TEST(countsFullRingAtLapEndOnce) {
  const TemporaryDirectory directory;
  for (const uint64_t before : {1, 2}) {
    const std::string agent = std::to_string(before);
    RingWriter writer;
    REQUIRE_EQ(writer.create(directory / agent, 4, 16), std::string());
    TestSource source(onlyAsked(directory));
    source.drain();
    push(writer, 1, before);
    source.drain();
    push(writer, 1, 15);
    source.drain();
    CHECK_EQ(source.status(agent).drains.foundFull, 1u);
  }
}

// The collector must drain a nearly full ring again soon, because the rest of a burst may not fit.
TEST(drainsNearlyFullRingAtLapEndAgainSoon) {
  const TemporaryDirectory directory;
  RingWriter writer;
  REQUIRE_EQ(writer.create(directory / "agent", 4, 1024), std::string());
  TestSource source(onlyAsked(directory));
  source.drain();
  push(writer, 1, 124);
  source.drain();
  push(writer, 1, 900);
  const uint64_t before = Collector::instance().stats().ticks;
  source.drain();
  waitUntil([&] { return Collector::instance().stats().ticks >= before + 2; });
}

TEST(reportsGapOfRingThatFillsDuringDrain) {
  SteppedDrain stepped(16);
  push(stepped.writer, 1, 3);
  uint64_t accepted = 0;
  stepped.ring.before = [&](Access access) {
    if (access != Access::kSlots || accepted != 0) return;
    while (stepped.writer.push({})) ++accepted;
  };
  CHECK_EQ(stepped.drain(), DrainOutcome::kEmpty);
  CHECK_EQ(accepted, 12u);
  CHECK_EQ(stepped.count, 15u);
  CHECK(stepped.gapsAfter == std::vector<uint64_t>{15});
  CHECK_EQ(stepped.protocol.stats().foundFull, 1u);
}

int main() { return check::run("needs_pause_test"); }
