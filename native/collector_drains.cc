// Which ring is drained when, within a tick. The collector's mutex is not held: only this thread changes agents_.

#include <algorithm>
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

// Each ring has a turn; those that had more than that, and those that take pauses, go on until `end`. True: some may be
// full before the next tick.
bool Collector::drainRings(Clock::time_point end) {
  crowded_ = false;
  std::vector<std::shared_ptr<Agent>> agents;
  agents.reserve(agents_.size());
  for (const auto& [path, agent] : agents_) {
    if (!behind_.contains(path)) agents.push_back(agent);
  }
  std::erase_if(agents, [&](const auto& agent) { return !drainOne(*agent, Patience::kNone).settling; });
  settle(agents, Patience::kNone);
  const Clock::time_point now = Clock::now();
  drainBehind(restless_.empty() ? end : now + std::max(end - now, Clock::duration{0}) / 2);
  drainRestless(end);
  return crowded_ || !behind_.empty();
}

Agent::DrainReport Collector::drainOne(Agent& agent, Patience patience) {
  const Clock::time_point now = Clock::now();
  const Agent::DrainReport report = agent.drain(kBudget, chunkBuffer(), now, patience);
  crowded_ |= report.crowded;
  if (report.moved) lastMoved_ = now;
  if (report.more) behind_.insert(agent.path());
  if (report.restless) restless_.insert(agent.path());
  return report;
}

// One pause for all the rings that wait for it.
void Collector::settle(std::vector<std::shared_ptr<Agent>>& agents, Patience patience) {
  for (int pauses = 0; !agents.empty() && pauses < kMaxSettlingPauses && !stopping(); ++pauses) {
    std::this_thread::sleep_for(kSettlingPause);
    std::erase_if(agents, [&](const auto& agent) { return !drainOne(*agent, patience).settling; });
  }
}

// A ring that is filled faster than it is drained would keep all the others waiting: what is behind goes on after the
// others had their turn, until `end`, and in the next tick where it ended in this.
void Collector::drainBehind(Clock::time_point end) {
  auto path = behind_.lower_bound(nextBehind_);
  while (!behind_.empty() && !stopping()) {
    if (path == behind_.end()) path = behind_.begin();
    const auto agent = agents_.find(*path);
    const bool more = agent != agents_.end() && drainOne(*agent->second, Patience::kNone).more;
    path = more ? std::next(path) : behind_.erase(path);
    if (Clock::now() >= end) break;
  }
  nextBehind_ = path == behind_.end() ? "" : *path;
}

// Rings that restart, whose lap ends, or whose positions somebody moves take pauses. However many there are, all others
// come first; these have their turn one after another until `end`, and in the next tick from where it ended.
void Collector::drainRestless(Clock::time_point end) {
  std::vector<std::shared_ptr<Agent>> relaid;
  auto path = restless_.lower_bound(nextRestless_);
  while (!restless_.empty() && !stopping()) {
    if (path == restless_.end()) path = restless_.begin();
    const std::shared_ptr<Agent>& agent = agents_.at(*path);
    if (drainOne(*agent, Patience::kRecovers).settling) relaid.push_back(agent);
    path = restless_.erase(path);
    if (Clock::now() >= end) break;
  }
  nextRestless_ = restless_.empty() ? "" : path == restless_.end() ? *restless_.begin() : *path;
  restless_.clear();
  settle(relaid, Patience::kRecovers);
}

bool Collector::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

}  // namespace nixl_otel
