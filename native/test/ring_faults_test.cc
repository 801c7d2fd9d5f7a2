// An attached ring whose header or size is damaged. Each case must end with exact numbers, or with no event and a
// reason.

#include <sys/stat.h>
#include <sys/wait.h>

#include <random>

#include "check.h"
#include "temporary_directory.h"
#include "test_reader.h"

using namespace nixl_otel;

namespace {

// Header A.
constexpr off_t kWritePos = 0;
constexpr off_t kReadPos = 8;
constexpr off_t kVersion = 16;
constexpr off_t kCapacity = 24;
constexpr off_t kMask = 32;

using Values = std::vector<uint64_t>;

// A ring of 64 slots after a drain of ten events.
struct DrainedRing {
  explicit DrainedRing(const TemporaryDirectory& directory) : path(directory / "agent") {
    if (!writer.create(path, 4, 64).empty()) std::abort();
    ring = std::make_unique<TestReader>(path);
    push(writer, 1, 10);
    if (ring->values().size() != 10) std::abort();
  }
  const DrainStats stats() const { return ring->reader->stats(); }

  std::string path;
  RingWriter writer;
  std::unique_ptr<TestReader> ring;
};

}  // namespace

TEST(losesNoEventOverTemporaryVersion0) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  push(r.writer, 11, 5);
  store(r.path, kVersion, int32_t{0});
  CHECK(r.ring->values().empty());
  CHECK_EQ(r.ring->last.outcome, DrainOutcome::kWaiting);
  CHECK_EQ(r.ring->last.state, RingState::kInitializing);
  store(r.path, kVersion, int32_t{4});
  push(r.writer, 16, 1);
  CHECK(r.ring->values() == (Values{11, 12, 13, 14, 15, 16}));
  CHECK_EQ(r.stats().restarts, 0u);
  CHECK(!r.stats().suspect);
}

TEST(reportsUnknownVersionAndTakesNoEvent) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  push(r.writer, 11, 5);
  store(r.path, kVersion, int32_t{9});
  for (int i = 0; i < 3; ++i) CHECK(r.ring->values().empty());
  CHECK_EQ(r.ring->last.state, RingState::kIncompatible);
  CHECK_EQ(r.ring->reader->reason(), "wire version 9 is not known (" + knownVersions() + ")");
  CHECK_EQ(load<uint64_t>(r.path, kReadPos), 10u);
  store(r.path, kVersion, int32_t{4});
  CHECK(r.ring->values() == (Values{11, 12, 13, 14, 15}));
}

// The reader reads capacity and mask when it attaches and after a rebuild. Values stored there at other times must have
// no effect on the slots that it reads.
TEST(ignoresOverwrittenCapacityAndMask) {
  for (const uint64_t capacity :
       {uint64_t{0}, uint64_t{1}, uint64_t{17}, uint64_t{128}, uint64_t{1} << 60, UINT64_MAX}) {
    for (const off_t field : {kCapacity, kMask}) {
      const TemporaryDirectory directory;
      DrainedRing r(directory);
      store(r.path, field, capacity);
      push(r.writer, 11, 5);
      CHECK(r.ring->values() == (Values{11, 12, 13, 14, 15}));
      CHECK(!r.stats().suspect);
    }
  }
}

TEST(reportsWritePosPastCapacityAndTakesNoEvent) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  for (const uint64_t position : {uint64_t{64}, uint64_t{1} << 60, UINT64_MAX}) {
    store(r.path, kWritePos, position);
    CHECK(r.ring->values().empty());
    CHECK_EQ(r.ring->last.state, RingState::kCorrupt);
    CHECK_WITH(r.ring->reader->reason().find("is past capacity 64") != std::string::npos, r.ring->reader->reason());
  }
  store(r.path, kWritePos, uint64_t{10});
  push(r.writer, 11, 5);  // stores write_pos 15
  CHECK(r.ring->values() == (Values{11, 12, 13, 14, 15}));
  CHECK(!r.stats().suspect);
}

TEST(reportsReadPosPastCapacityAndTakesNoEvent) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  push(r.writer, 11, 5);
  store(r.path, kReadPos, UINT64_MAX);
  CHECK(r.ring->values().empty());
  CHECK_EQ(r.ring->last.state, RingState::kCorrupt);
  store(r.path, kReadPos, uint64_t{10});
  CHECK(r.ring->values() == (Values{11, 12, 13, 14, 15}));
}

// After a jump of write_pos the reader reads the slots up to the new position, because it cannot distinguish the jump
// from events. It never reads more events than a ring can hold, nor bytes beyond the file.
TEST(readsAtMostOneRingPerJumpOfWritePos) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  std::mt19937 random(1);
  uint64_t at = 10;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t to = 1 + random() % 63;
    store(r.path, kWritePos, to);
    CHECK_EQ(r.ring->drain().size(), (to - at) & 63);
    CHECK_EQ(load<uint64_t>(r.path, kReadPos), to);
    at = to;
  }
  CHECK_EQ(r.stats().foreignMoves, 0u);
}

TEST(countsEveryJumpOfReadPos) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  for (uint32_t i = 1; i <= 100; ++i) {
    const uint64_t to = i % 2 == 0 ? 10 : 20;
    push(r.writer, 1, 63);
    CHECK_EQ(r.ring->drain().size(), 63u);
    store(r.path, kReadPos, (load<uint64_t>(r.path, kReadPos) + to) & 63);
    r.ring->drain();
    CHECK_EQ(r.stats().foreignMoves, i);
    const uint64_t write = load<uint64_t>(r.path, kWritePos);
    CHECK_EQ(load<uint64_t>(r.path, kReadPos), write);
  }
  CHECK(r.stats().suspect);
}

TEST(drainsRingInGrownFile) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  REQUIRE_EQ(::truncate(r.path.c_str(), 1 << 20), 0);
  push(r.writer, 11, 5);
  CHECK(r.ring->values() == (Values{11, 12, 13, 14, 15}));
  // A later consumer cannot know the part of the file that is the ring.
  r.ring.reset();
  const TestReader late(r.path);
  CHECK_EQ(late.state, RingState::kCorrupt);
}

TEST(takesNoEventWhileFileIsTruncatedInsideSlots) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  push(r.writer, 11, 5);
  REQUIRE_EQ(::truncate(r.path.c_str(), 40 + 12 * 16), 0);
  CHECK(r.ring->values().empty());
  CHECK_EQ(r.ring->last.state, RingState::kCorrupt);
  REQUIRE_EQ(::truncate(r.path.c_str(), 40 + 64 * 16), 0);
  // The truncated slots are zeros now.
  CHECK(r.ring->values() == (Values{11, 12, 0, 0, 0}));
}

TEST(takesNoEventWhileFileIsTruncatedInsideHeader) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  for (const off_t size : {0, 1, 17, 39}) {
    push(r.writer, 11, 1);
    REQUIRE_EQ(::truncate(r.path.c_str(), size), 0);
    CHECK(r.ring->values().empty());
    CHECK_EQ(r.ring->reader->reason(), size == 0 ? "the file was truncated to 0 bytes"
                                                 : "too short for a ring: " + std::to_string(size) + " bytes");
    r.writer.close();
    REQUIRE_EQ(r.writer.create(r.path, 4, 64), std::string());
    CHECK(r.ring->values().empty());  // finds the new ring
    push(r.writer, 100, 3);
    CHECK(r.ring->values() == (Values{100, 101, 102}));
  }
  CHECK_EQ(r.stats().restarts, 4u);
  CHECK(!r.stats().suspect);
}

TEST(drainsSparseRingOfLargestSize) {
  const TemporaryDirectory directory;
  constexpr uint64_t kCapacityMax = 1u << 24;
  const std::string path = directory / "agent";
  Image::headerA(4, 2, 16, 0, 0).put(24, kCapacityMax).put(32, kCapacityMax - 1).resize(40).writeTo(path);
  REQUIRE_EQ(::truncate(path.c_str(), 40 + kCapacityMax * 16), 0);
  store(path, kWritePos, kCapacityMax - 1);
  TestReader ring(path);
  uint64_t count = 0;
  uint64_t sum = 0;
  REQUIRE(ring.reader != nullptr);
  ring.reader->drain(UINT64_MAX, ring.buffer, [&](const RingReader::Chunk& chunk) {
    count += chunk.count;
    for (uint32_t i = 0; i < chunk.count; ++i) sum += decodeSlot(chunk.layout.slot, chunk.slots + size_t{i} * 16).value;
  });
  CHECK_EQ(count, kCapacityMax - 1);
  CHECK_EQ(sum, 0u);
}

TEST(reportsFileOfATerabyteAsCorrupt) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  Image::headerA(4, 16, 16, 5, 2).writeTo(path);
  REQUIRE_EQ(::truncate(path.c_str(), off_t{1} << 40), 0);
  const TestReader ring(path);
  CHECK_EQ(ring.state, RingState::kCorrupt);
  // A header with a larger capacity makes no difference.
  store(path, kCapacity, (uint64_t{1} << 36));
  store(path, kMask, (uint64_t{1} << 36) - 1);
  CHECK_EQ(TestReader(path).state, RingState::kCorrupt);
}

// Both producers read write_pos from the header before each push, as NIXL's agents do. The start of the second producer
// wipes the pending events. All later events count.
TEST(countsTwoProducersFromStartOfTheSecond) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  push(r.writer, 11, 3);
  RingWriter second(WriterLock::kNone);
  REQUIRE_EQ(second.create(r.path, 4, 64), std::string());
  CHECK(r.ring->values().empty());
  const auto pushAtHeader = [&](uint64_t value) {
    const auto at = load<uint64_t>(r.path, kWritePos);
    store(r.path, static_cast<off_t>(40 + at * 16), uint32_t{0});
    store(r.path, static_cast<off_t>(40 + at * 16 + 8), value);
    store(r.path, kWritePos, (at + 1) & 63);
  };
  for (const uint64_t value : {21, 31, 22, 32}) pushAtHeader(value);
  CHECK(r.ring->values() == (Values{21, 31, 22, 32}));
  CHECK_EQ(r.stats().restarts, 1u);
}

TEST(drainsUnlinkedRingToItsEnd) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  push(r.writer, 11, 3);
  REQUIRE_EQ(::unlink(r.path.c_str()), 0);
  push(r.writer, 14, 2);
  CHECK(r.ring->values() == (Values{11, 12, 13, 14, 15}));
  CHECK(r.ring->reader->unlinked());
}

TEST(drainsAttachedRingWithoutPermissions) {
  const TemporaryDirectory directory;
  DrainedRing r(directory);
  push(r.writer, 11, 3);
  REQUIRE_EQ(::chmod(r.path.c_str(), 0), 0);
  CHECK(r.ring->values() == (Values{11, 12, 13}));
}

int main() { return check::run("ring_faults_test"); }
