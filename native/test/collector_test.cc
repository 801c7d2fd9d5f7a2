// The collector with real rings and threads. Counts must be exact under load.
#include "collector/collector.h"

#include <unistd.h>

#include <atomic>
#include <thread>

#include "check.h"
#include "ring/ring_writer.h"
#include "temporary_directory.h"
#include "test_source.h"

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

SourceOptions optionsFor(const std::string& directory) {
  return TestSource::optionsFor(directory, milliseconds(30'000));
}

uint64_t counted(Source& source) {
  uint64_t sum = 0;
  const auto add = [&](const SourceAgent&, const AgentStatus&, const Tally& tally) {
    for (const EventTally& event : tally.events()) sum += event.count;
  };
  WaitBudget forEver;
  wholeSnapshot(source, Source::kNoReader, add, forEver);
  return sum;
}

// Pushes until the ring has accepted `events` events. Waits while the ring is full.
void produce(RingWriter& ring, uint64_t events) {
  RingEvent event;
  for (uint64_t i = 0; i < events;) {
    event.type = i % 4;
    event.value = i;
    if (ring.push(event)) {
      ++i;
    } else {
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
}

}  // namespace

TEST(countsEveryEventWhileSourcesAndTapsOpenAndClose) {
  const TemporaryDirectory directory;
  Collector& collector = Collector::instance();
  const auto source = collector.open(optionsFor(directory.path));
  constexpr uint64_t kEvents = check::kSanitized ? 20'000 : 200'000;
  constexpr int kAgents = 4;
  std::atomic<bool> done{false};
  std::thread visitor([&] {
    while (!done) {
      const auto other = collector.open(optionsFor(directory.path));
      const auto tap = collector.openTap(other, {.types = 0b11}, 64);
      collector.drainNow(milliseconds(1000));
      counted(*other);
      tap->take(10);
      SourceReport report;
      WaitBudget forEver;
      collector.report(*source, 10, report, forEver);
      collector.closeTap(other, tap);
      collector.close(other);
    }
  });
  std::vector<std::thread> producers;
  for (int i = 0; i < kAgents; ++i) {
    producers.emplace_back([&, i] {
      RingWriter ring;
      CHECK_EQ(ring.create(directory.path + "/agent-" + std::to_string(i), 4, 1024), std::string());
      produce(ring, kEvents);
    });
  }
  for (std::thread& producer : producers) producer.join();
  done = true;
  visitor.join();
  collector.drainNow(milliseconds(5000));
  CHECK_EQ(counted(*source), kEvents * kAgents);
  collector.close(source);
}

TEST(countsReplacedRingsUnderOneName) {
  const TemporaryDirectory directory;
  Collector& collector = Collector::instance();
  const auto source = collector.open(optionsFor(directory.path));
  const std::string path = directory.path + "/agent";
  for (int incarnation = 0; incarnation < 5; ++incarnation) {
    ::unlink(path.c_str());
    RingWriter ring;
    CHECK_EQ(ring.create(path, 3, 64), std::string());
    produce(ring, 49);
    RingEvent registered;
    registered.type = 4;
    registered.value = 4096;
    CHECK(ring.push(registered));
    while (ring.pending() != 0) collector.drainNow(milliseconds(1000));
  }
  CHECK_EQ(counted(*source), 250u);
  // Memory that earlier incarnations registered does not count.
  WaitBudget forEver;
  const auto check = [](const SourceAgent&, const AgentStatus&, const Tally& tally) {
    CHECK(tally.memoryInUse() == 4096);
  };
  wholeSnapshot(*source, Source::kNoReader, check, forEver);
  collector.close(source);
}

TEST(drainsAThirdAsOftenWhileRingsAreEmpty) {
  const TemporaryDirectory directory;
  Collector& collector = Collector::instance();
  constexpr milliseconds kInterval{10};
  RingWriter ring;
  REQUIRE_EQ(ring.create(directory.path + "/agent", 4, 64), std::string());
  SourceOptions options = optionsFor(directory.path);
  options.drainInterval = kInterval;
  const Clock::time_point opened = Clock::now();
  const auto source = collector.open(options);
  waitUntil([&] { return Clock::now() - opened > milliseconds(1000) + 3 * kInterval; });

  constexpr uint64_t kTicks = 10;
  const Clock::time_point quiet = Clock::now();
  const uint64_t lateBefore = collector.stats().lateTicks;
  waitForTicks(kTicks);
  CHECK(Clock::now() - quiet >= kTicks * 3 * kInterval);
  CHECK(collector.stats().lateTicks - lateBefore < kTicks);

  waitUntil([&] {
    produce(ring, 1);
    const Clock::time_point busy = Clock::now();
    waitForTicks(kTicks);
    return Clock::now() - busy < kTicks * 3 * kInterval;
  });
  collector.close(source);
}

TEST(drainsAtTheShortestIntervalOfOpenSources) {
  const TemporaryDirectory directory;
  Collector& collector = Collector::instance();
  SourceOptions options = optionsFor(directory.path);
  options.drainInterval = milliseconds(40);
  const auto slow = collector.open(options);
  options.drainInterval = milliseconds(1);
  const auto fast = collector.open(options);
  CHECK(collector.stats().drainInterval == milliseconds(1));
  collector.close(fast);
  CHECK(collector.stats().drainInterval == milliseconds(40));
  collector.close(slow);
}

TEST(drainsNothingOnceEverySourceIsHeld) {
  const TemporaryDirectory directory;
  RingWriter ring;
  REQUIRE_EQ(ring.create(directory / "agent", 4, 64), std::string());
  TestSource source(directory.path);
  TestSource other(directory.path);
  Collector& collector = Collector::instance();
  push(ring, 1, 3);
  CHECK_EQ(source.counted(), 3u);
  const uint64_t first = collector.hold(source.handle);
  waitUntil([&] { return collector.isServed(first); });
  push(ring, 1, 4);
  CHECK_EQ(other.counted(), 7u);  // the other source still needs the events
  const uint64_t second = collector.hold(other.handle);
  waitUntil([&] { return collector.isServed(second); });
  push(ring, 1, 5);
  RingWriter late;
  REQUIRE_EQ(late.create(directory / "late", 4, 64), std::string());
  waitForTicks(10);
  CHECK_EQ(other.counted(), 7u);
  CHECK_EQ(source.counted(), 7u);
  CHECK_EQ(source.agents(), 1u);
  // A source that is opened later needs events, and finds those that came meanwhile.
  TestSource third(directory.path);
  waitUntil([&] { return third.counted() == 12; });  // sources with the same options share their tallies
}

TEST(startsAndEndsThreadWithSources) {
  const TemporaryDirectory directory;
  Collector& collector = Collector::instance();
  for (int i = 0; i < 50; ++i) {
    const auto source = collector.open(optionsFor(directory.path));
    // After a close() that gave up on a busy machine, calls give up at once until the new thread runs.
    if (i % 2 == 0) waitUntil([&] { return collector.drainNow(milliseconds(5000)); });
    collector.close(source);
  }
  CHECK(!collector.drainNow(milliseconds(1)));
}

int main() { return check::run("collector_test"); }
