// Two producers on one ring, each with a position of its own, as of programs without RingWriter's lock: each store of
// a position looks like up to a lap of new events. Counted too much is never silent where the reader can see it.

#include <atomic>
#include <thread>
#include <utility>

#include "check.h"
#include "ring/ring_writer.h"
#include "stepped_ring.h"
#include "temporary_directory.h"
#include "test_reader.h"

using namespace nixl_otel;

namespace {

constexpr uint64_t kCapacity = 64;

// A ring with a second producer, which has rebuilt it; both have the same position.
struct SharedRing : SteppedDrain {
  SharedRing() : SteppedDrain(kCapacity) {
    REQUIRE_EQ(first.create(path, 4, kCapacity), std::string());
    REQUIRE_EQ(second.create(path, 4, kCapacity), std::string());
    CHECK(drain() == DrainOutcome::kEmpty);
    CHECK_EQ(protocol.stats().restarts, 1u);
    CHECK(!protocol.stats().suspect);
  }
  RingWriter first{WriterLock::kNone};
  RingWriter second{WriterLock::kNone};
};

}  // namespace

TEST(flagsAPositionThatGoesBackDuringADrain) {
  SharedRing shared;
  push(shared.first, 1, 9);
  bool pushed = false;
  shared.ring.before = [&](Access access) {  // after the first look
    if (access == Access::kSlots && !std::exchange(pushed, true)) push(shared.second, 101, 2);
  };
  shared.drain();
  CHECK(shared.protocol.stats().suspect);
  CHECK(shared.count > 11);  // the position of `second` is behind: a lap of old events looks new
}

// The events that were seen and left, and the fewer ones of the next drain.
TEST(flagsAPositionThatGoesBackWhileEventsAreLeft) {
  SharedRing shared;
  push(shared.first, 1, 9);
  ChunkJournal none([](const std::byte*, uint32_t, bool) {});
  CHECK(shared.protocol.drain(shared.ring, 0, shared.opened.buffer.data(), none) == DrainOutcome::kMore);
  push(shared.second, 101, 2);
  CHECK(!shared.protocol.stats().suspect);
  CHECK(shared.drain() == DrainOutcome::kEmpty);
  CHECK(shared.protocol.stats().suspect);
}

// A position 0 may be the begin of a rebuild: it is that of another producer once two pauses have passed.
TEST(flagsAPositionThatGoesBackTo0) {
  SharedRing shared;
  push(shared.first, 1, 9);
  ChunkJournal none([](const std::byte*, uint32_t, bool) {});
  CHECK(shared.protocol.drain(shared.ring, 0, shared.opened.buffer.data(), none) == DrainOutcome::kMore);
  const off_t writePos = releasedLayout(4)->header.writePos;
  store(shared.path, writePos, uint64_t{0});
  CHECK(shared.drain(false) == DrainOutcome::kNeedsPause);
  CHECK(!shared.protocol.stats().suspect);
  CHECK(shared.drain() == DrainOutcome::kEmpty);
  CHECK(shared.protocol.stats().suspect);
  CHECK_EQ(shared.count, 0u);
}

// The same with real threads. The producers push until a drain has seen one of them take events back.
TEST(flagsTwoProducersThatCountTooMuch) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter writers[] = {RingWriter(WriterLock::kNone), RingWriter(WriterLock::kNone)};
  for (RingWriter& writer : writers) REQUIRE_EQ(writer.create(path, 4, 1024), std::string());
  TestReader ring(path);
  CHECK(ring.drain().empty());
  std::atomic<uint64_t> written = 0;
  std::atomic<bool> ends = false;
  const auto produce = [&](RingWriter& writer) {
    RingEvent event;
    while (!ends) {
      event.value = ++written;
      if (!writer.push(event)) std::this_thread::yield();
    }
  };
  std::thread first(produce, std::ref(writers[0]));
  std::thread second(produce, std::ref(writers[1]));
  uint64_t counted = 0;
  while (!ring.reader->stats().suspect) counted += ring.drain().size();
  ends = true;
  first.join();
  second.join();
  std::printf("%llu counted before the flag, up to %llu written\n", static_cast<unsigned long long>(counted),
              static_cast<unsigned long long>(written));
}

// Equal laps, full rings and any budget are no sign of a second producer.
TEST(neverFlagsOneProducer) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter writer;
  REQUIRE_EQ(writer.create(path, 4, 64), std::string());
  TestReader ring(path);
  CHECK(ring.drain().empty());
  constexpr uint64_t kEvents = 200'000;
  std::thread producer([&] {
    RingEvent event;
    event.value = 7;
    for (uint64_t i = 0; i < kEvents;) {
      if (writer.push(event)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  uint64_t counted = 0;
  for (uint64_t budget = 1; counted < kEvents; budget = budget % 90 + 1) counted += ring.drain(budget).size();
  producer.join();
  CHECK_EQ(counted, kEvents);
  CHECK(!ring.reader->stats().suspect);
}

int main() { return check::run("two_writers_test"); }
