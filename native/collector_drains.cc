// Which ring is drained when, within a tick. The collector's mutex is not held: only this thread changes agents_.

#include <chrono>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "collector.h"

namespace nixl_otel {
namespace {

// New rings are looked at again after a pause, twice; a ring that does not come to rest waits for the next tick.
constexpr std::chrono::microseconds kSettlingPause{500};
constexpr int kMaxSettlingPauses = 6;
// What one ring may take before the others have their turn.
constexpr uint64_t kBudget = 16 * DrainProtocol<int>::kChunkSlots;

ChunkBuffer& chunkBuffer() {
  thread_local ChunkBuffer buffer;
  return buffer;
}

}  // namespace

// Each ring has a turn; those that had more than that go on until `end`. True: some may be full before the next tick.
bool Collector::drainRings(Clock::time_point end) {
  std::vector<std::shared_ptr<Agent>> agents;
  agents.reserve(agents_.size());
  for (const auto& [path, agent] : agents_) {
    if (!behind_.contains(path)) agents.push_back(agent);
  }
  bool crowded = drainAll(agents);
  // One pause for all the new rings that wait for it.
  for (int pauses = 0; !agents.empty() && pauses < kMaxSettlingPauses && !stopping(); ++pauses) {
    std::this_thread::sleep_for(kSettlingPause);
    crowded |= drainAll(agents);
  }
  drainRestless(end);
  drainBehind(end);
  return crowded || !behind_.empty();
}

// Leaves those that must settle first.
bool Collector::drainAll(std::vector<std::shared_ptr<Agent>>& agents) {
  const Clock::time_point now = Clock::now();
  bool crowded = false;
  std::erase_if(agents, [&](const std::shared_ptr<Agent>& agent) {
    const Agent::DrainReport report = agent->drain(kBudget, chunkBuffer(), now, Patience::kNone);
    crowded |= report.crowded;
    if (report.moved) lastMoved_ = now;
    if (report.more) behind_.insert(agent->path());
    if (report.restless) restless_.insert(agent->path());
    return !report.settling;
  });
  return crowded;
}

// Rings that restart, whose lap ends, or whose positions somebody moves take pauses. However many there are, those that
// are calm come first; these have their turn one after another until `end`, and in the next tick from where it ended.
void Collector::drainRestless(Clock::time_point end) {
  auto path = restless_.lower_bound(nextRestless_);
  while (!restless_.empty() && !stopping()) {
    if (path == restless_.end()) path = restless_.begin();
    const auto agent = agents_.find(*path);
    const Agent::DrainReport report = agent->second->drain(kBudget, chunkBuffer(), Clock::now(), Patience::kRecovers);
    if (report.moved) lastMoved_ = Clock::now();
    if (report.more) behind_.insert(*path);
    path = restless_.erase(path);
    if (Clock::now() >= end) break;
  }
  nextRestless_ = restless_.empty() ? "" : path == restless_.end() ? *restless_.begin() : *path;
  restless_.clear();
}

// A ring that is filled faster than it is drained would keep all the others waiting: what is behind goes on after the
// others had their turn, until their next one is due, and in the next tick where it ended in this.
void Collector::drainBehind(Clock::time_point end) {
  if (!behind_.empty()) lastMoved_ = Clock::now();
  auto path = behind_.lower_bound(nextBehind_);
  while (!behind_.empty() && !stopping()) {
    if (path == behind_.end()) path = behind_.begin();
    const auto agent = agents_.find(*path);
    const bool more =
        agent != agents_.end() && agent->second->drain(kBudget, chunkBuffer(), Clock::now(), Patience::kRecovers).more;
    path = more ? std::next(path) : behind_.erase(path);
    if (Clock::now() >= end) break;
  }
  nextBehind_ = path == behind_.end() ? "" : *path;
}

bool Collector::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

}  // namespace nixl_otel
