// Observation of real rings beside a consumer: laps and restarts.

#include "ring/ring_observer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "check.h"
#include "ring/ring_reader.h"
#include "ring/ring_writer.h"
#include "temporary_directory.h"
#include "test_reader.h"

using namespace nixl_otel;

namespace {

constexpr size_t kAll = 1000;

// A ring with an agent, a consumer and an observer.
class Fixture {
 public:
  explicit Fixture(uint64_t capacity = 16) : path_(directory_ / "agent") {
    startAgent(capacity);
    RingState state;
    std::string reason;
    consumer_ = RingReader::open(path_, false, state, reason);
    REQUIRE(consumer_ != nullptr);
    observer_ = std::make_unique<RingObserver>(RingFile::open(path_, RingAccess::kObserve, false));
  }

  // Starts the agent, or restarts it in the same file. A real restart takes longer than a step of the file's clock.
  void startAgent(uint64_t capacity) {
    if (agent_ != nullptr) waitForNextFileTime();
    agent_ = std::make_unique<RingWriter>();
    REQUIRE_EQ(agent_->create(path_, 4, capacity), std::string());
  }

  void write(uint64_t from, uint64_t to) {
    for (uint64_t value = from; value <= to; ++value) {
      RingEvent event;
      event.value = value;
      REQUIRE(agent_->push(event));
    }
  }

  void drain() {
    ChunkBuffer buffer;
    consumer_->drain(kAll, buffer, [](const RingReader::Chunk&) {});
  }

  Observation observe(size_t most = kAll) { return observer_->observe(most); }

  // Sets the file's times, as stores through a mapping may.
  void touch() {
    waitForNextFileTime();
    REQUIRE_EQ(::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0), 0);
  }

  // Observes, and checks that the events have exactly these values.
  Observation expectSeen(uint64_t from, uint64_t to) {
    const Observation seen = observe();
    const std::vector<RingEvent> events = eventsOf(seen);
    REQUIRE_EQ(events.size(), size_t{to - from + 1});
    for (uint64_t i = 0; i < events.size(); ++i) CHECK_EQ(events[i].value, from + i);
    return seen;
  }

 private:
  // Waits until a new change would get another ctime: file systems use a clock with steps of milliseconds.
  void waitForNextFileTime() {
    const std::string clock = directory_ / "clock";
    struct stat ring;
    struct stat now;
    REQUIRE_EQ(::stat(path_.c_str(), &ring), 0);
    do {
      ::close(::open(clock.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
      REQUIRE_EQ(::stat(clock.c_str(), &now), 0);
    } while (now.st_ctim.tv_sec == ring.st_ctim.tv_sec && now.st_ctim.tv_nsec == ring.st_ctim.tv_nsec);
  }

  TemporaryDirectory directory_;
  std::string path_;
  std::unique_ptr<RingWriter> agent_;
  std::unique_ptr<RingReader> consumer_;
  std::unique_ptr<RingObserver> observer_;
};

}  // namespace

TEST(observesEveryEventOverManyLaps) {
  Fixture fixture;
  for (uint64_t first = 1; first < 1000; first += 9) {
    fixture.write(first, first + 8);
    const Observation seen = fixture.expectSeen(first, first + 8);
    CHECK_EQ(seen.pending, uint64_t{9});
    CHECK(!seen.lapped);
    CHECK(!seen.restarted);
    fixture.drain();
  }
}

TEST(reportsLap) {
  Fixture fixture;
  fixture.write(1, 5);
  fixture.expectSeen(1, 5);
  for (uint64_t first = 6; first < 60; first += 10) {
    fixture.drain();
    fixture.write(first, first + 9);
  }
  CHECK(fixture.observe().lapped);
}

TEST(repeatsNoEventAfterRestartOfDrainedRing) {
  Fixture fixture(64);
  for (uint64_t first = 1; first <= 91; first += 10) {
    fixture.write(first, first + 9);
    fixture.expectSeen(first, first + 9);
    fixture.drain();
  }
  fixture.startAgent(64);
  const Observation seen = fixture.observe();
  CHECK(seen.restarted);
  CHECK(!seen.lapped);
  CHECK_EQ(seen.count(), size_t{0});
  fixture.write(7, 9);
  CHECK(!fixture.expectSeen(7, 9).restarted);
}

TEST(observesFirstEventsAfterRestart) {
  Fixture fixture(64);
  fixture.write(1, 20);
  fixture.expectSeen(1, 20);
  fixture.drain();
  fixture.startAgent(64);
  fixture.write(101, 105);
  CHECK(fixture.expectSeen(101, 105).restarted);
}

TEST(noticesRestartOfUndrainedRing) {
  Fixture fixture(64);
  fixture.write(1, 20);
  fixture.expectSeen(1, 20);
  fixture.startAgent(64);
  fixture.write(101, 103);
  CHECK(fixture.expectSeen(101, 103).restarted);
}

TEST(noticesRestartWithAnotherCapacity) {
  Fixture fixture(64);
  fixture.write(1, 20);
  fixture.expectSeen(1, 20);
  for (const uint64_t capacity : {16, 256}) {
    fixture.startAgent(capacity);
    fixture.write(101, 103);
    CHECK(fixture.expectSeen(101, 103).restarted);
  }
}

TEST(reportsNoRestartForUnreadEvents) {
  Fixture fixture(64);
  fixture.write(1, 60);
  fixture.expectSeen(1, 60);
  fixture.drain();
  fixture.write(61, 70);
  CHECK_EQ(fixture.observe(2).count(), size_t{2});
  fixture.touch();
  CHECK(!fixture.expectSeen(63, 70).restarted);
}

TEST(reportsNoRestartForChangedCtime) {
  Fixture fixture;
  for (uint64_t first = 1; first < 100; first += 9) {
    fixture.write(first, first + 8);
    fixture.touch();
    CHECK(!fixture.expectSeen(first, first + 8).restarted);
    fixture.drain();
  }
}

TEST(reportsStalledRing) {
  Fixture fixture;
  fixture.write(1, 15);
  CHECK(!fixture.expectSeen(1, 15).stalled);
  CHECK(fixture.observe().stalled);
  fixture.drain();
  CHECK(!fixture.observe().stalled);
}

int main() { return check::run("ring_observer_test"); }
