// An agent restarts before each step of a drain in turn, and rebuilds the file with an equal, smaller or larger
// capacity. The test knows the events that the rebuild wipes and those of the new ring, so every count must be exact.
// The explorer does the same with all store orders; this test uses a real file.

#include <algorithm>

#include "check.h"
#include "stepped_ring.h"
#include "temporary_directory.h"
#include "test_reader.h"

using namespace nixl_otel;

namespace {

constexpr uint64_t kCapacity = 16;
constexpr uint64_t kOldEvents = 11;
constexpr uint64_t kNewEvents = 6;

struct Outcome {
  std::vector<uint64_t> values;
  bool rebuilt = false;
  bool geometryChanged = false;
  DrainStats stats;
};

// Rebuilds the ring before one step of a drain. `skipped` events were drained before: the drain begins at this position
// (0: the same read_pos as after a rebuild). The stepped protocol replaces that of the reader and takes over its mark.
// `pushesAtOnce` violates assumption B.
Outcome rebuildBefore(int stepOfRebuild, uint64_t capacity, uint64_t skipped, bool pushesAtOnce = false) {
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  RingWriter old;
  if (!old.create(path, 4, kCapacity).empty()) std::abort();
  TestReader opened(path);
  SteppedRing ring(*opened.reader);
  DrainProtocol<SteppedRing> protocol;
  Outcome outcome;
  ChunkJournal journal([&](const std::byte* slots, uint32_t count, bool) {
    for (uint32_t i = 0; i < count; ++i) {
      outcome.values.push_back(decodeSlot(releasedLayout(4)->slot, slots + size_t{i} * 16).value);
    }
  });
  const auto drain = [&] {
    DrainOutcome result{};
    do {
      result = protocol.drain(ring, UINT64_MAX, opened.buffer.data(), journal);
    } while (result == DrainOutcome::kSettling);
    return result;
  };
  if (!protocol.attach(ring, ring.inspect(), kCapacity, 1)) std::abort();
  push(old, 1, skipped);
  drain();
  outcome.values.clear();
  push(old, 101, kOldEvents);

  RingWriter next;
  int step = 0;
  ring.before = [&](Access) {
    if (step++ != stepOfRebuild) return;
    old.close();
    if (!next.create(path, 4, capacity).empty()) std::abort();
    if (pushesAtOnce) push(next, 201, kNewEvents);
    outcome.rebuilt = true;
  };
  DrainOutcome result = drain();
  ring.before = [](Access) {};
  if (!outcome.rebuilt) return outcome;
  // By assumption B the new agent pushes after the drain.
  if (!pushesAtOnce) push(next, 201, kNewEvents);
  if (result != DrainOutcome::kGeometryChanged) result = drain();
  outcome.stats = protocol.stats();
  outcome.geometryChanged = result == DrainOutcome::kGeometryChanged;
  if (outcome.geometryChanged) {
    opened.reader.reset();  // releases the file lock
    TestReader reopened(path);
    for (const uint64_t value : reopened.values()) outcome.values.push_back(value);
  }
  return outcome;
}

void rebuildBeforeEveryStep(uint64_t capacity) {
  for (const uint64_t skipped : {uint64_t{0}, uint64_t{3}, uint64_t{9}}) {
    int stopped = 0;
    for (int step = 0;; ++step) {
      const Outcome outcome = rebuildBefore(step, capacity, skipped);
      if (!outcome.rebuilt) break;
      ++stopped;
      const std::string where = "before step " + std::to_string(step) + ", skipped " + std::to_string(skipped);
      // First events of the old ring, in order and each at most once, then all events of the new ring.
      const auto& values = outcome.values;
      const auto firstNew = std::find(values.begin(), values.end(), 201u);
      const auto olds = static_cast<uint64_t>(firstNew - values.begin());
      CHECK_WITH(olds <= kOldEvents, where);
      for (uint64_t i = 0; i < olds; ++i) CHECK_WITH(values[i] == 101 + i, where);
      CHECK_WITH(values.size() - olds == kNewEvents, where + ": " + std::to_string(values.size()) + " values");
      for (uint64_t i = olds; i < values.size(); ++i) CHECK_WITH(values[i] == 201 + i - olds, where);
      CHECK_WITH(!outcome.stats.suspect, where);
      CHECK_WITH(outcome.stats.restarts + outcome.geometryChanged == 1u, where + ": restarts");
    }
    CHECK(stopped > 8);
  }
}

}  // namespace

// A rebuild that ends before the next step of the drain is seen there. Then even an agent that pushes at once is
// counted exactly. (Assumption B is needed where a step falls into the rebuild, see the explorer.)
TEST(countsExactlyIfNewAgentPushesIntoRunningDrain) {
  for (const uint64_t skipped : {uint64_t{0}, uint64_t{3}, uint64_t{9}}) {
    int stopped = 0;
    for (int step = 0;; ++step) {
      const Outcome outcome = rebuildBefore(step, kCapacity, skipped, true);
      if (!outcome.rebuilt) break;
      ++stopped;
      const auto& values = outcome.values;
      const auto olds = static_cast<uint64_t>(std::find(values.begin(), values.end(), 201u) - values.begin());
      std::vector<uint64_t> exact;
      for (uint64_t i = 0; i < std::min(olds, kOldEvents); ++i) exact.push_back(101 + i);
      for (uint64_t i = 0; i < kNewEvents; ++i) exact.push_back(201 + i);
      CHECK_WITH(values == exact, "step " + std::to_string(step) + ", skipped " + std::to_string(skipped));
    }
    CHECK(stopped > 8);
  }
}

TEST(countsExactlyOverRebuildWithEqualCapacityBeforeEveryStep) { rebuildBeforeEveryStep(kCapacity); }
TEST(countsExactlyOverRebuildWithSmallerCapacityBeforeEveryStep) { rebuildBeforeEveryStep(kCapacity / 2); }
TEST(countsExactlyOverRebuildWithLargerCapacityBeforeEveryStep) { rebuildBeforeEveryStep(kCapacity * 4); }

int main() { return check::run("rebuild_steps_test"); }
