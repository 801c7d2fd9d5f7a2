// Drains of real files: every wire version from literal bytes, and concurrent restarts and truncations.
#include "ring/ring_reader.h"

#include <sys/stat.h>

#include <atomic>
#include <random>
#include <thread>

#include "check.h"
#include "temporary_directory.h"
#include "test_reader.h"
#include "wire_versions.h"

using namespace nixl_otel;

namespace {

// An event that a drain must return. The rings of these tests hold the last slot and the first slot, in this order. All
// other bytes are 0xA5, because the padding of real rings may have any bytes.
struct Expected {
  uint64_t timestampUs = 0;
  int32_t category = 0;
  uint32_t type = 0;
  const char* name = "";
  uint64_t value = 0;
};

void expectTwo(const Image& image, const Expected& last, const Expected& first) {
  const TemporaryDirectory directory;
  image.writeTo(directory / "agent");
  TestReader ring(directory / "agent");
  RingObserver observer(RingFile::open(directory / "agent", RingAccess::kObserve, false));
  for (const auto& events : {eventsOf(observer.observe(10)), ring.drain()}) {
    REQUIRE_EQ(events.size(), 2u);
    const Expected* expected[] = {&last, &first};
    for (int i = 0; i < 2; ++i) {
      CHECK_EQ(events[i].timestampUs, expected[i]->timestampUs);
      CHECK_EQ(events[i].category, expected[i]->category);
      CHECK_EQ(events[i].type, expected[i]->type);
      CHECK_EQ(std::string(events[i].nameView()), std::string(expected[i]->name));
      CHECK_EQ(events[i].value, expected[i]->value);
    }
  }
  CHECK(ring.drain().empty());
}

}  // namespace

TEST(readsWireVersion1) {
  Image image = Image::headerA(1, 4, 56, 1, 3);
  image.put(40 + 168, uint64_t{77}).put(40 + 176, int32_t{3}).text(40 + 180, "UCX_RETRIES").put(40 + 216, UINT64_MAX);
  image.put(40, uint64_t{78}).put(48, int32_t{-5}).text(52, "agent_xfer_time").put(88, uint64_t{9});
  expectTwo(image, {77, 3, 0, "UCX_RETRIES", UINT64_MAX}, {78, -5, 0, "agent_xfer_time", 9});
}

TEST(readsWireVersion2) {
  Image image = Image::headerA(2, 4, 16, 1, 3);
  image.put(40 + 48, int32_t{5}).put(40 + 52, uint32_t{6}).put(40 + 56, UINT64_MAX);
  image.put(40, int32_t{1}).put(44, uint32_t{0}).put(48, uint64_t{9});
  expectTwo(image, {0, 5, 6, "", UINT64_MAX}, {0, 1, 0, "", 9});
}

TEST(readsTheUnreleasedVersion2) {
  Image image = Image::headerA(2, 4, 48, 1, 3);
  image.put(40 + 144, int32_t{5}).text(40 + 148, "agent_xfer_time").put(40 + 184, UINT64_MAX);
  image.put(40, int32_t{1}).text(44, "agent_tx_bytes").put(80, uint64_t{9});
  expectTwo(image, {0, 5, 0, "agent_xfer_time", UINT64_MAX}, {0, 1, 0, "agent_tx_bytes", 9});
}

TEST(readsWireVersions3And4) {
  for (const int32_t version : {3, 4}) {
    Image image = Image::headerA(version, 4, 16, 1, 3);
    image.put(40 + 48, uint32_t{20}).put(40 + 56, UINT64_MAX).put(40, uint32_t{4'000'000'000}).put(48, uint64_t{9});
    expectTwo(image, {0, 0, 20, "", UINT64_MAX}, {0, 0, 4'000'000'000, "", 9});
  }
}

TEST(readsDraft5) {
  Image image = Image::headerB(4, 16, 1, 3);
  image.put(512 + 48, uint32_t{6}).put(512 + 56, UINT64_MAX).put(512, uint32_t{0}).put(520, uint64_t{9});
  expectTwo(image, {0, 0, 6, "", UINT64_MAX}, {0, 0, 0, "", 9});
}

TEST(restoresHeaderOnRelease) {
  const TemporaryDirectory directory;
  Image image = Image::headerA(4, 16, 16, 9, 2);
  image.writeTo(directory / "agent");
  {
    TestReader ring(directory / "agent");
    CHECK_EQ(ring.drain(3).size(), 3u);
    CHECK_EQ(ring.drain().size(), 4u);
  }
  std::vector<uint8_t> bytes(image.bytes().size());
  const int fd = ::open((directory / "agent").c_str(), O_RDONLY);
  REQUIRE_EQ(::read(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(fd);
  CHECK(bytes == image.put(8, uint64_t{9}).bytes());
}

// Laps that are read with one system call, laps with too many other slots for that, and laps longer than a chunk.
TEST(drainsOverLapEnd) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  for (const int32_t version : wireVersions()) {
    for (const uint64_t capacity : {8, 4096, 16384}) {
      RingWriter writer;
      REQUIRE_EQ(writer.create(path, version, capacity), std::string());
      TestReader ring(path);
      uint64_t value = 0;
      for (const uint64_t batch : {capacity - 1, capacity - 1, capacity - 3, capacity / 2, capacity / 2 + 1}) {
        const auto pushed = push(writer, value + 1, batch);
        value += batch;
        CHECK(ring.values() == pushed);
      }
    }
  }
}

TEST(takesNoEventOverTruncatedLapEnd) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  Image::headerA(4, 16, 16, 9, 11).writeTo(path);
  TestReader ring(path);
  REQUIRE_EQ(ring.drain(1).size(), 1u);  // later drains call inspect() only after an anomaly
  REQUIRE_EQ(::truncate(path.c_str(), 40 + 16 * 14), 0);
  CHECK(ring.drain().empty());
  CHECK(ring.last.outcome == DrainOutcome::kWaiting);
  CHECK_EQ(ring.reader->stats().drained, 1u);
}

// The agent restarts in place with several capacities and versions, while a reader stays attached.
TEST(followsRestartsToAnyCapacityAndVersion) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  struct Incarnation {
    int32_t version;
    uint64_t capacity;
  };
  const Incarnation incarnations[] = {{4, 64}, {4, 64}, {4, 16}, {4, 256}, {1, 64}, {5, 64},
                                      {5, 8},  {3, 4},  {5, 8},  {2, 512}, {3, 512}};
  RingWriter first;
  REQUIRE_EQ(first.create(path, 4, 32), std::string());
  TestReader ring(path);
  uint64_t value = 0;
  for (const Incarnation& incarnation : incarnations) {
    first.close();
    RingWriter& writer = first;
    REQUIRE_EQ(writer.create(path, incarnation.version, incarnation.capacity), std::string());
    ring.drain();  // by assumption B a new agent pushes after this drain
    const auto pushed = push(writer, value + 1, incarnation.capacity - 1);
    value += incarnation.capacity - 1;
    CHECK(ring.values() == pushed);
  }
  CHECK_EQ(ring.reader->stats().restarts, std::size(incarnations));
  CHECK(!ring.reader->stats().suspect);
}

// Thousands of truncations during drains: to 0 bytes, inside the header, inside the slots. After a restart of the agent
// the counts must be exact again.
TEST(survivesTruncationAtAnyMoment) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  Image::headerA(4, 4096, 16, 4095, 0).writeTo(path);
  std::atomic<bool> done{false};
  std::thread truncator([&] {
    std::mt19937 random(1);
    const Image image = Image::headerA(4, 4096, 16, 4095, 0);
    for (int i = 0; i < (check::kSanitized ? 500 : 5000); ++i) {
      const off_t sizes[] = {0, 1, 17, 39, 40, 4096, 40 + 16 * 100, 40 + 16 * 4096};
      if (::truncate(path.c_str(), sizes[random() % std::size(sizes)]) != 0) std::abort();
      std::this_thread::yield();
      if (random() % 4 == 0) image.writeTo(path);
    }
    done = true;
  });
  TestReader ring(path);
  uint64_t drains = 0;
  const auto drainOnce = [&] {
    if (ring.reader == nullptr) ring.reader = RingReader::open(path, false, ring.state, ring.reason);
    ++drains;
    return ring.drain();
  };
  while (!done) drainOnce();
  truncator.join();
  CHECK(drains > 100);
  RingWriter agent;
  REQUIRE_EQ(agent.create(path, 4, 1024), std::string());
  drainOnce();  // by assumption B a new agent pushes after this drain
  const auto pushed = push(agent, 1, 1000);
  std::vector<uint64_t> drained;
  for (const RingEvent& event : drainOnce()) drained.push_back(event.value);
  CHECK(drained == pushed);
}

// A producer pushes and restarts in place repeatedly. The reader must count at most the written events, and at least
// the written events minus the wiped ones.
TEST(countsNoEventTwiceOverRestartsUnderLoad) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  constexpr int kIncarnations = check::kSanitized ? 20 : 60;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> drains{0};
  std::atomic<uint64_t> written{0};
  std::atomic<uint64_t> wiped{0};
  std::thread agent([&] {
    const uint64_t capacities[] = {1024, 1024, 256, 4096};
    uint64_t value = 0;
    uint64_t left = 0;
    for (int incarnation = 0; incarnation < kIncarnations; ++incarnation) {
      wiped += left;
      RingWriter ring;
      if (!ring.create(path, 4, capacities[incarnation % 4]).empty()) std::abort();
      // Assumption B of the protocol: the first push comes after the end of a drain that runs now.
      for (const uint64_t ended = drains; drains == ended;) std::this_thread::yield();
      for (int burst = 0; burst < 50; ++burst) {
        for (int i = 0; i < 100; ++i) {
          RingEvent event;
          event.value = value + 1;
          if (ring.push(event)) ++value, ++written;
        }
        std::this_thread::yield();
      }
      left = ring.pending();
    }
    done = true;
  });
  while (!std::filesystem::exists(path)) std::this_thread::yield();
  TestReader ring(path);
  uint64_t last = 0;
  uint64_t counted = 0;
  for (int quiet = 0; quiet < 3; quiet += done) {
    if (ring.reader == nullptr) ring.reader = RingReader::open(path, false, ring.state, ring.reason);
    for (const RingEvent& event : ring.drain()) {
      CHECK(event.value > last);  // rising values: no event counts twice
      last = event.value;
      ++counted;
    }
    ++drains;
    CHECK(last <= written + 1);  // the producer increments `written` right after the push
    std::this_thread::yield();
  }
  agent.join();
  CHECK(counted <= written);
  CHECK_WITH(counted + wiped >= written, std::to_string(counted) + " counted and at most " + std::to_string(wiped) +
                                             " wiped of " + std::to_string(written));
}

namespace {

struct Gaps {
  std::vector<uint64_t> before;  // number of events drained before each gapBefore
  std::vector<uint64_t> after;   // and before each gapAfter
  uint64_t drained = 0;
  void drain(TestReader& ring, uint64_t budget = UINT64_MAX) {
    ring.reader->drain(budget, ring.buffer, [&](const RingReader::Chunk& chunk) {
      if (chunk.gapBefore) before.push_back(drained);
      drained += chunk.count;
      if (chunk.gapAfter) after.push_back(drained);
    });
  }
};

uint64_t pushAll(RingWriter& writer, uint64_t events) {
  uint64_t accepted = 0;
  for (uint64_t i = 0; i < events; ++i) accepted += writer.push({});
  return accepted;
}

}  // namespace

// The gap is after the last event of a full ring, independent of chunks and turns.
TEST(reportsGapsOfFullRing) {
  const TemporaryDirectory directory;
  for (const uint64_t capacity : {64, 4096, 8192, 65536}) {
    for (const uint64_t budget : {uint64_t{10}, capacity / 3, uint64_t{UINT64_MAX}}) {
      const std::string path = directory / (std::to_string(capacity) + "-" + std::to_string(budget));
      RingWriter writer;
      REQUIRE_EQ(writer.create(path, 4, capacity), std::string());
      TestReader ring(path);
      Gaps gaps;
      REQUIRE_EQ(pushAll(writer, capacity + 5), capacity - 1);
      gaps.drain(ring, budget);
      if (budget != UINT64_MAX) {
        // The ring becomes full again before the reader has reached the first gap. This adds a second gap.
        REQUIRE_EQ(pushAll(writer, capacity), budget);
        gaps.drain(ring, budget);
        REQUIRE_EQ(pushAll(writer, budget - 1), budget - 1);
      }
      gaps.drain(ring);
      const std::vector<uint64_t> expected =
          budget == UINT64_MAX ? std::vector{capacity - 1} : std::vector{capacity - 1, capacity - 1 + budget};
      CHECK(gaps.after == expected);
      CHECK(gaps.before.empty());
    }
  }
}

TEST(reportsGapsOfForeignConsumer) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter writer;
  REQUIRE_EQ(writer.create(path, 4, 64), std::string());
  TestReader ring(path);
  Gaps gaps;
  pushAll(writer, 10);
  gaps.drain(ring);
  pushAll(writer, 10);
  store(path, kHeaderA.readPos, uint64_t{13});
  gaps.drain(ring, 4);
  gaps.drain(ring);
  pushAll(writer, 10);
  gaps.drain(ring);
  CHECK_EQ(gaps.drained, 27u);
  CHECK(gaps.before == std::vector<uint64_t>{10});
  CHECK(ring.reader->stats().suspect);
  // Events that a foreign consumer took from one incarnation cause no gap in the next.
  pushAll(writer, 10);
  store(path, kHeaderA.readPos, load<uint64_t>(path, kHeaderA.writePos));
  gaps.drain(ring);
  writer.close();
  RingWriter again;
  REQUIRE_EQ(again.create(path, 4, 64), std::string());
  gaps.drain(ring);
  pushAll(again, 10);
  gaps.drain(ring);
  CHECK_EQ(gaps.drained, 37u);
  CHECK(gaps.before == std::vector<uint64_t>{10});
}

TEST(noticesForeignConsumer) {
  const TemporaryDirectory directory;
  RingWriter writer;
  REQUIRE_EQ(writer.create(directory / "agent", 4, 64), std::string());
  TestReader ring(directory / "agent");
  RingEvent event;
  for (int i = 0; i < 10; ++i) writer.push(event);
  CHECK_EQ(ring.drain().size(), 10u);
  for (int i = 0; i < 10; ++i) writer.push(event);
  const int fd = ::open((directory / "agent").c_str(), O_RDWR);
  const uint64_t moved = 13;
  REQUIRE_EQ(::pwrite(fd, &moved, sizeof moved, 8), static_cast<ssize_t>(sizeof moved));
  ::close(fd);
  CHECK_EQ(ring.drain().size(), 7u);
  CHECK_EQ(ring.reader->stats().foreignMoves, 1u);
  CHECK(ring.reader->stats().suspect);
}

namespace {

// A consumer with state, whose record and sums outlive it. It dies at its end, or right after the commit of a chunk.
class Survivor final : public DrainJournal {
 public:
  std::optional<DrainRecord> record;
  std::vector<uint64_t> values;
  bool diesAtCommit = false;

  // Opens the ring as the next consumer, and drains it until it is empty.
  void live(const std::string& path) {
    RingState state{};
    std::string reason;
    const auto reader = RingReader::open(path, false, state, reason, std::nullopt,
                                         [&](const RingFileId&) { return Recalled{{}, true, record}; });
    REQUIRE_EQ(reason, std::string());
    ChunkBuffer buffer;
    try {
      for (int drains = 0; drains < 3; ++drains) reader->drain(UINT64_MAX, buffer, *this);
    } catch (const Death&) {
    }
  }

  void commit(const Chunk& chunk, const DrainRecord& now) override {
    for (uint32_t i = 0; i < chunk.count; ++i) {
      values.push_back(decodeSlot(chunk.layout.slot, chunk.slots + size_t{i} * chunk.layout.slot.size).value);
    }
    record = now;
    if (diesAtCommit) throw Death{};
  }
  void commit(const DrainRecord& now) override { record = now; }
  void rest(const DrainRecord& now) override { record = now; }

 private:
  struct Death {};
};

std::vector<uint64_t> from1To(uint64_t last) {
  std::vector<uint64_t> values(last);
  for (uint64_t i = 0; i < last; ++i) values[i] = i + 1;
  return values;
}

}  // namespace

TEST(countsEveryEventOnceOverDeathBetweenCommitAndSwap) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter writer;
  REQUIRE_EQ(writer.create(path, 4, 16), std::string());
  Survivor consumer;
  uint64_t pushed = 0;
  for (const uint64_t events : {5, 15, 10, 15, 3}) {
    push(writer, pushed + 1, events);
    pushed += events;
    consumer.diesAtCommit = true;
    consumer.live(path);
    CHECK_EQ(load<uint64_t>(path, kHeaderA.readPos), consumer.record->before);  // the swap was not made
    consumer.diesAtCommit = false;
    consumer.live(path);
    CHECK(consumer.values == from1To(pushed));
  }
  CHECK_EQ(consumer.record->stats.restarts, 0u);
  CHECK(!consumer.record->stats.suspect);
  CHECK_EQ(load<int32_t>(path, kHeaderA.expectedVersion), consumer.record->mark);
}

// The swap of the dead consumer changed the ring of an agent that was just starting, which is smaller than read_pos.
TEST(takesBackSwapOfDeadConsumer) {
  for (const uint64_t capacity : {16, 4}) {
    const TemporaryDirectory directory;
    const std::string path = directory / "agent";
    RingWriter old;
    REQUIRE_EQ(old.create(path, 4, 16), std::string());
    Survivor consumer;
    push(old, 1, 9);
    consumer.diesAtCommit = true;
    consumer.live(path);
    consumer.diesAtCommit = false;
    old.close();
    RingWriter next;
    REQUIRE_EQ(next.create(path, 4, capacity), std::string());
    store(path, kHeaderA.readPos, uint64_t{9});
    push(next, 10, 3);
    consumer.live(path);
    consumer.live(path);
    CHECK(consumer.values == from1To(12));
    CHECK_EQ(consumer.record->stats.restarts, 1u);
    CHECK(!consumer.record->stats.suspect);
  }
}

// As above, but the agent has passed that read_pos: another consumer took the events before it.
TEST(leavesReadPosThatTheAgentHasPassed) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter old;
  REQUIRE_EQ(old.create(path, 4, 16), std::string());
  Survivor consumer;
  push(old, 1, 9);
  consumer.diesAtCommit = true;
  consumer.live(path);
  consumer.diesAtCommit = false;
  old.close();
  RingWriter next;
  REQUIRE_EQ(next.create(path, 4, 16), std::string());
  push(next, 101, 9);
  store(path, kHeaderA.readPos, uint64_t{9});
  push(next, 10, 3);
  consumer.live(path);
  consumer.live(path);
  CHECK(consumer.values == from1To(12));
  CHECK_EQ(consumer.record->stats.foreignMoves, 1u);
  CHECK(consumer.record->stats.suspect);
}

// A rebuild takes the mark away, so only a damaged file has it beside fewer slots. The record's positions may then be
// those of no slot: as a read_pos they would end the agent's search for a free slot.
TEST(storesNoPositionOfARecordThatTheRingHasNot) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter old;
  REQUIRE_EQ(old.create(path, 4, 256), std::string());
  Survivor consumer;
  push(old, 1, 100);
  consumer.live(path);
  push(old, 101, 40);
  consumer.diesAtCommit = true;
  consumer.live(path);  // its swap from 100 to 140 was not made
  consumer.diesAtCommit = false;
  old.close();
  RingWriter next;
  REQUIRE_EQ(next.create(path, 4, 64), std::string());
  store(path, kHeaderA.expectedVersion, consumer.record->mark);
  push(next, 141, 20);
  consumer.live(path);
  CHECK_EQ(load<uint64_t>(path, kHeaderA.readPos), 20u);
  CHECK(consumer.values == from1To(160));
  CHECK_EQ(consumer.record->stats.restarts, 1u);
}

TEST(noticesConsumerWithoutStateAfterDeath) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter writer;
  REQUIRE_EQ(writer.create(path, 4, 16), std::string());
  Survivor consumer;
  push(writer, 1, 9);
  consumer.live(path);
  push(writer, 10, 7);
  CHECK_EQ(TestReader(path).values().size(), 7u);  // it leaves read_pos at 0, as a restart does
  push(writer, 17, 2);
  consumer.live(path);
  CHECK_EQ(consumer.values.size(), 11u);
  CHECK_EQ(consumer.record->stats.restarts, 0u);
  CHECK(consumer.record->stats.suspect);
}

// The last consumer marked a ring of another wire version, and its record has no mark of this one.
TEST(repeatsNoMarkAfterTwoChangesOfTheGeometry) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter ring;
  REQUIRE_EQ(ring.create(path, 4, 64), std::string());
  Recalled recalled;
  recalled.keepsState = true;
  recalled.record = DrainRecord();
  recalled.record->mark = makeMark(kStateSerials + 7);
  recalled.record->version = 3;
  RingState state;
  std::string reason;
  const auto reader =
      RingReader::open(path, false, state, reason, std::nullopt, [&](const RingFileId&) { return recalled; });
  REQUIRE(reader != nullptr);
  ring.close();
  REQUIRE_EQ(ring.create(path, 4, 128), std::string());
  push(ring, 1, 5);
  ChunkBuffer buffer;
  CHECK_EQ(reader->drain(100, buffer, [](const Chunk&) {}).events, 5u);
  CHECK_EQ(load<int32_t>(path, 20), makeMark(kStateSerials + 10));  // each change uses up a mark that no ring has
}

// An agent that fills the ring again during the drain is one drain that found the ring full.
TEST(countsEachDrainThatFoundTheRingFullOnce) {
  const TemporaryDirectory directory;
  const std::string path = directory / "ring";
  RingWriter ring;
  REQUIRE_EQ(ring.create(path, 4, 16384), std::string());
  TestReader test(path);
  const auto fill = [&] {
    while (ring.push(RingEvent{})) {
    }
  };
  for (uint32_t drains = 1; drains <= 3; ++drains) {
    fill();
    test.reader->drain(3 * 16384, test.buffer, [&](const RingReader::Chunk&) { fill(); });
    CHECK_EQ(test.reader->stats().foundFull, drains);
  }
}

// Serials of consumers with and without state never meet.
TEST(followsEachMarkInItsHalf) {
  CHECK_EQ(serialAfter(makeMark(5)), 6);
  CHECK_EQ(serialAfter(makeMark(kStateSerials - 1)), 0);
  CHECK_EQ(serialAfter(makeMark(kStateSerials)), kStateSerials + 1);
  CHECK_EQ(serialAfter(makeMark(UINT16_MAX)), kStateSerials);
}

int main() { return check::run("ring_reader_test"); }
