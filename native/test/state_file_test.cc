// A state file gives the next consumer what the last one committed, whatever happened to the file or to its consumer.
#include "state_file.h"

#include "random_tally.h"
#include "temporary_directory.h"

using namespace nixl_otel;

namespace {

AgentRecord someAgent(uint64_t n) {
  AgentRecord agent;
  RingRecord ring;
  ring.id = {{7, 8 + n}, {9, 10}};
  ring.capacity = 4096;
  ring.slotBytes = 16;
  ring.drain.mark = makeMark(0x8001);
  ring.drain.version = 4;
  ring.drain.before = n % 4096;
  ring.drain.after = (n + 5) % 4096;
  ring.drain.fromZero = n % 2 == 0;
  ring.drain.rested = n % 3 == 0;
  ring.drain.gaps = 2;
  ring.drain.gapAt = {3, 4095};
  ring.drain.stats = {n, 2, 3, 4, 5, true};
  agent.rings = {ring};
  agent.retired = {1, 2, 3, 4, 5, false};
  agent.replacements = 6;
  agent.lastEventMs = 1.5e12 + static_cast<double>(n);
  agent.fullMs = 12.5;
  agent.writer = {1234, 99};
  agent.pidNamespace = 4026531836;
  agent.attributes = "{\"pod\":\"a\"}";
  return agent;
}

bool sameStats(const DrainStats& a, const DrainStats& b) {
  return CHECK_EQ(a.drained, b.drained) && CHECK_EQ(a.restarts, b.restarts) &&
         CHECK_EQ(a.foreignMoves, b.foreignMoves) && CHECK_EQ(a.resyncs, b.resyncs) &&
         CHECK_EQ(a.foundFull, b.foundFull) && CHECK_EQ(a.suspect, b.suspect);
}

bool sameAgent(const AgentRecord& a, const AgentRecord& b) {
  if (!CHECK_EQ(a.rings.size(), b.rings.size())) return false;
  for (size_t i = 0; i < a.rings.size(); ++i) {
    const RingRecord& x = a.rings[i];
    const RingRecord& y = b.rings[i];
    const bool same = CHECK(x.id.file == y.id.file) && CHECK_EQ(x.id.born.tv_sec, y.id.born.tv_sec) &&
                      CHECK_EQ(x.id.born.tv_nsec, y.id.born.tv_nsec) && CHECK_EQ(x.capacity, y.capacity) &&
                      CHECK_EQ(x.slotBytes, y.slotBytes) && CHECK_EQ(x.drain.mark, y.drain.mark) &&
                      CHECK_EQ(x.drain.version, y.drain.version) && CHECK_EQ(x.drain.before, y.drain.before) &&
                      CHECK_EQ(x.drain.after, y.drain.after) && CHECK_EQ(x.drain.fromZero, y.drain.fromZero) &&
                      CHECK_EQ(x.drain.rested, y.drain.rested) && CHECK_EQ(x.drain.gaps, y.drain.gaps) &&
                      CHECK(x.drain.gapAt == y.drain.gapAt) && sameStats(x.drain.stats, y.drain.stats);
    if (!same) return false;
  }
  return sameStats(a.retired, b.retired) && CHECK_EQ(a.replacements, b.replacements) &&
         CHECK_EQ(a.lastEventMs, b.lastEventMs) && CHECK_EQ(a.fullMs, b.fullMs) && CHECK(a.writer == b.writer) &&
         CHECK_EQ(a.pidNamespace, b.pidNamespace) && CHECK_EQ(a.attributes, b.attributes);
}

// Opens the state file of a ring, and expects that it can be had.
std::unique_ptr<StateFile> opened(const std::string& ring, std::shared_ptr<const TallyPlan> plan = somePlan()) {
  std::string reason;
  auto state = StateFile::open(ring, std::move(plan), reason);
  CHECK_WITH(state != nullptr, reason);
  if (state == nullptr) throw check::TestEnded();
  return state;
}

}  // namespace

TEST(recoversLastCommitOfEachWireVersion) {
  const TemporaryDirectory directory;
  for (const int32_t version : {1, 2, 3, 4, 5}) {
    const std::string ring = directory / std::to_string(version);
    Tally tally(somePlan());
    RandomEvents events(version, static_cast<uint64_t>(version));
    AgentRecord agent;
    std::string reason;
    uint64_t commits = 0;
    for (int processes = 0; processes < 5; ++processes) {
      const auto state = opened(ring);
      CHECK_EQ(state->asideReason(), "");
      CHECK_EQ(state->recovered().has_value(), processes > 0);
      Tally recovered(somePlan());
      state->restore(recovered);
      if (processes > 0) {
        REQUIRE(sameAgent(*state->recovered(), agent));
        REQUIRE(sameTally(recovered, tally));
      }
      tally = std::move(recovered);
      for (int i = 0; i < 1 + processes * 7; ++i) {
        events.fold(tally, i % 5 == 0 ? 1 : 200);
        agent = someAgent(++commits);
        if (commits % 5 == 0) agent.attributes = std::string(commits, 'a');
        REQUIRE(state->commit(agent, tally, reason));
      }
    }
  }
}

int main() { return check::run("state_file_test"); }
