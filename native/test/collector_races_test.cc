// The collector attaches and releases rings while other threads make all of its calls: snapshots, problems, statistics,
// taps, readers and sources. Each event must count once. Under ThreadSanitizer the test finds data races.

#include <atomic>

#include "check.h"
#include "temporary_directory.h"
#include "test_source.h"

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

constexpr uint64_t kIncarnations = check::kSanitized ? 30 : 60;
constexpr uint64_t kEvents = 50;

// Repeats a call on its own thread until it is destroyed.
class RepeatedCall {
 public:
  explicit RepeatedCall(std::function<void()> action)
      : thread_([this, action = std::move(action)] {
          while (!done_) {
            action();
            ++times_;
          }
        }) {}
  ~RepeatedCall() {
    done_ = true;
    thread_.join();
  }
  uint64_t times() const { return times_; }

 private:
  std::atomic<bool> done_{false};
  std::atomic<uint64_t> times_{0};
  std::thread thread_;
};

// Next incarnation of an agent's file: a new file under the name, the same file rebuilt in place, or none.
enum class Next { kReplaced, kRebuilt, kGone };

// Runs the incarnations of one agent. The next one begins when the ring of the previous one is empty.
void runIncarnations(TestSource& source, const std::string& directory, const std::string& name, Next next,
                     std::atomic<uint64_t>& written) {
  for (uint64_t incarnation = 0; incarnation < kIncarnations; ++incarnation) {
    const std::string path = directory + "/" + name + (next == Next::kGone ? std::to_string(incarnation) : "");
    RingWriter ring;
    if (!ring.create(path, incarnation % 2 == 0 ? 4 : 1, 64).empty()) std::abort();
    source.drain();  // a new agent pushes one flush interval later at the earliest
    push(ring, 1, kEvents);
    written += kEvents;
    waitUntil([&] { return ring.pending() == 0; });
    if (next != Next::kRebuilt) ::unlink(path.c_str());
  }
}

}  // namespace

TEST(countsEveryEventOfShortLivedRingsDuringConcurrentCalls) {
  const TemporaryDirectory directory;
  TestSource source(directory.path);
  std::atomic<uint64_t> written{0};
  std::atomic<uint64_t> tapped{0};
  std::vector<uint64_t> times;
  {
    const RepeatedCall snapshots([&] {
      source.snapshot([](const SourceAgent& seen, const AgentStatus& status, const Tally& tally) {
        if (seen.name.empty() || status.capacity == 0 || tally.events().empty()) std::abort();
      });
    });
    const RepeatedCall questions([&] {
      source.problems();
      Collector::instance().stats();
    });
    const RepeatedCall readers([&] {
      const uint32_t reader = Collector::instance().addReader(source.handle);
      WaitBudget forEver;
      wholeSnapshot(*source.handle, reader, [](const auto&, const auto&, const auto&) {}, forEver);
      Collector::instance().removeReader(source.handle, reader);
    });
    const RepeatedCall taps([&] {
      const auto tap = Collector::instance().openTap(source.handle, {.types = 1, .all = true}, 1024);
      source.drain();
      tapped += tap->take(1024).size();
      Collector::instance().closeTap(source.handle, tap);
    });
    const RepeatedCall sources([&] {
      TestSource other(directory.path, milliseconds(0));
      other.counted();
    });
    std::vector<std::thread> agents;
    agents.emplace_back([&] { runIncarnations(source, directory.path, "replaced", Next::kReplaced, written); });
    agents.emplace_back([&] { runIncarnations(source, directory.path, "rebuilt", Next::kRebuilt, written); });
    agents.emplace_back([&] { runIncarnations(source, directory.path, "gone-", Next::kGone, written); });
    for (std::thread& agent : agents) agent.join();
    waitUntil([&] { return source.counted() == written; });
    times = {snapshots.times(), questions.times(), readers.times(), taps.times(), sources.times()};
  }
  CHECK_EQ(written.load(), 3 * kIncarnations * kEvents);
  CHECK_EQ(source.counted(), 3 * kIncarnations * kEvents);
  for (const uint64_t count : times) CHECK(count > 5);
  CHECK(tapped > 0);
  source.snapshot([](const SourceAgent&, const AgentStatus& status, const Tally&) { CHECK(!status.drains.suspect); });
}

int main() { return check::run("collector_races_test"); }
