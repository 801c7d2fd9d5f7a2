// The wall clock of this program jumps by days while agents write. Only times in snapshots may follow it.

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "check.h"
#include "temporary_directory.h"
#include "test_source.h"

using namespace nixl_otel;

namespace {

std::atomic<time_t> wallClockOffset{0};
constexpr time_t kDay = 86'400;

}  // namespace

// Replaces the C library's function in the whole program. It needs default visibility, because the clocks of the C++
// library call it as well.
extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = ::syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += wallClockOffset.load();
  return static_cast<int>(result);
}

TEST(replacesTheClockOfThisProgram) {
  const double before = wallClockMs();
  const auto systemBefore = std::chrono::system_clock::now();
  wallClockOffset = kDay;
  CHECK(wallClockMs() - before >= 86'400'000);
  CHECK(std::chrono::system_clock::now() - systemBefore >= std::chrono::hours(24));
  wallClockOffset = 0;
}

TEST(keepsAgentsAndCountsEveryEventOverClockJumps) {
  const TemporaryDirectory directory;
  AgentProcess agent(directory / "agent");
  TestSource source(directory.path, std::chrono::milliseconds(0));
  waitUntil([&] { return source.alive("agent"); });
  uint64_t expected = 0;
  for (const time_t jump : {kDay, -kDay, 1000 * kDay, time_t{0}, -1000 * kDay}) {
    wallClockOffset = jump;
    agent.write(10);
    expected += 10;
    CHECK_EQ(source.counted(), expected);
    waitForTicks(300, [&] { source.agents(); });  // the collector checks lives meanwhile
    CHECK(source.alive("agent"));
    // The collector also finds a ring that is created after the jump.
    const std::string name = "made-at-" + std::to_string(jump);
    AgentProcess other(directory / name);
    other.write(5);
    waitUntil([&] { return source.counted(name) == 5 && source.alive(name); });
    double lastEventMs = 0;
    source.snapshot([&](const SourceAgent& seen, const AgentStatus& s, const Tally&) {
      if (seen.name == name) lastEventMs = s.lastEventMs;
    });
    CHECK(wallClockMs() >= lastEventMs && wallClockMs() - lastEventMs < 60'000);
    other.kill();
    waitUntil([&] { return source.agents() == 1; });
  }
  wallClockOffset = 0;
}

int main() { return check::run("clock_jump_test"); }
