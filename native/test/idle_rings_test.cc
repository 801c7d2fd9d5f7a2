// Idle rings. While no ring changes, the schedule only looks at their headers. Whatever happens to a ring meanwhile,
// the next drain() must find it.

#include <atomic>
#include <filesystem>
#include <thread>

#include "check.h"
#include "collector/agent.h"
#include "collector/drain_schedule.h"
#include "temporary_directory.h"
#include "test_reader.h"
#include "test_source.h"

using namespace nixl_otel;

namespace {

// Two rings and their schedule, which is at rest.
class IdleRings {
 public:
  IdleRings() REQUIRES(collectorThread) {
    const auto plan =
        std::make_shared<const TallyPlan>(TestSource::optionsFor("/", std::chrono::milliseconds(1)).tally);
    for (const char* name : {"a", "b"}) {
      const std::string path = directory / name;
      if (!writers[name].create(path, 4, 64).empty()) std::abort();
      RingState state;
      std::string reason;
      agents.emplace(path, std::make_shared<Agent>(path, RingReader::open(path, false, state, reason), nullptr));
      slots[path] = agents.at(path)->acquireTally(plan, false);
    }
    guardMappings();
    for (int i = 0; i < 3; ++i) drain();
  }

  void drain() REQUIRES(collectorThread) { schedule.drain(agents, Clock::now() + std::chrono::hours(1)); }

  AgentStatus status(const std::string& name) {
    AgentStatus found;
    WaitBudget forEver;
    const std::string path = directory / name;
    agents.at(path)->read(*slots.at(path), forEver, [&](const AgentStatus& status, const Tally&) { found = status; });
    return found;
  }

  // True if a drain takes no agent's lock: it only looks. After at most half a second a drain takes the locks again.
  bool isResting() REQUIRES(collectorThread) {
    std::atomic<bool> isHeld{false};
    std::atomic<bool> isDrained{false};
    std::atomic<bool> mayEnd{false};
    bool didRest = false;
    std::thread other([&] {
      WaitBudget forEver;
      const std::string path = directory / "b";
      agents.at(path)->read(*slots.at(path), forEver, [&](const AgentStatus&, const Tally&) {
        isHeld = true;
        const auto end = Clock::now() + std::chrono::milliseconds(200);
        while (!isDrained && Clock::now() < end) std::this_thread::yield();
        didRest = isDrained;
      });
      waitUntil([&] { return mayEnd.load(); });
    });
    waitUntil([&] { return isHeld.load(); });
    drain();
    isDrained = mayEnd = true;
    other.join();
    return didRest;
  }

  const TemporaryDirectory directory = TemporaryDirectory::inMemory();
  std::map<std::string, RingWriter> writers;
  AgentMap agents;
  std::map<std::string, std::shared_ptr<TallySlot>> slots;
  std::atomic<bool> stopping{false};
  DrainSchedule schedule{stopping};
};

}  // namespace

TEST(restsWhileNoRingChanges) {
  collectorThread.enter();
  IdleRings idle;
  waitUntil([&] { return idle.isResting(); });
  waitUntil([&] { return idle.isResting(); });
  collectorThread.leave();
}

TEST(drainsWhatAnIdleAgentWrites) {
  collectorThread.enter();
  IdleRings idle;
  waitUntil([&] { return idle.isResting(); });
  push(idle.writers["b"], 1, 7);
  idle.drain();
  CHECK_EQ(idle.status("b").drains.drained, 7u);
  CHECK_EQ(idle.status("a").drains.drained, 0u);
  push(idle.writers["a"], 1, 3);
  idle.drain();
  CHECK_EQ(idle.status("a").drains.drained, 3u);
  collectorThread.leave();
}

TEST(noticesRestartOfAnIdleAgent) {
  collectorThread.enter();
  IdleRings idle;
  waitUntil([&] { return idle.isResting(); });
  RingWriter& next = idle.writers["a"];
  next.close();
  REQUIRE_EQ(next.create(idle.directory / "a", 4, 64), std::string());
  idle.drain();
  CHECK_EQ(idle.status("a").drains.restarts, 1u);
  push(next, 1, 4);
  idle.drain();
  CHECK_EQ(idle.status("a").drains.drained, 4u);
  collectorThread.leave();
}

TEST(survivesTheTruncationOfAnIdleRing) {
  collectorThread.enter();
  IdleRings idle;
  waitUntil([&] { return idle.isResting(); });
  std::filesystem::resize_file(idle.directory / "b", 0);
  idle.drain();
  RingState state = RingState::kReady;
  std::string reason;
  WaitBudget forEver;
  idle.agents.at(idle.directory / "b")->problem(state, reason, forEver);
  CHECK_EQ(state, RingState::kInitializing);
  collectorThread.leave();
}

TEST(noticesThatAnotherConsumerTookEvents) {
  collectorThread.enter();
  IdleRings idle;
  waitUntil([&] { return idle.isResting(); });
  push(idle.writers["a"], 1, 5);
  store(idle.directory / "a", 8, uint64_t{5});  // its read_pos: the ring is empty again
  idle.drain();
  CHECK_EQ(idle.status("a").drains.foreignMoves, 1u);
  CHECK(idle.status("a").drains.suspect);
  collectorThread.leave();
}

TEST(forgetsRingsThatAreReleased) {
  collectorThread.enter();
  IdleRings idle;
  waitUntil([&] { return idle.isResting(); });
  idle.schedule.endRest();
  idle.agents.erase(idle.directory / "a");
  push(idle.writers["b"], 1, 2);
  idle.drain();
  CHECK_EQ(idle.status("b").drains.drained, 2u);
  collectorThread.leave();
}

// The time since the last look is an upper bound of the time for which the ring was full, not the time since the drain.
TEST(countsTheTimeOfAFullRingFromTheLastLook) {
  collectorThread.enter();
  IdleRings idle;
  const auto begin = Clock::now();
  waitUntil([&] { return Clock::now() - begin > std::chrono::milliseconds(50); });
  Clock::time_point beforeLook;
  waitUntil([&] {
    beforeLook = Clock::now();
    return idle.isResting();
  });
  push(idle.writers["a"], 1, 63);
  idle.drain();
  CHECK_EQ(idle.status("a").drains.foundFull, 1u);
  CHECK(idle.status("a").fullMs <= toMs(Clock::now() - beforeLook));
  collectorThread.leave();
}

int main() { return check::run("idle_rings_test"); }
