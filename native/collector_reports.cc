// What the collector says when it is asked: snapshots of agents, and what stands in the way of reading more.
// A question with a deadline gets no answer where the thread holds on to its locks for longer.

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "collector.h"

namespace nixl_otel {
namespace {

double toMs(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

}  // namespace

bool Collector::snapshot(Source& source, uint32_t reader, const Visit& visit, WaitBudget& budget) {
  std::vector<SourceAgent> agents;
  const Clock::time_point begun = Clock::now();
  {
    std::unique_lock lock(mutex_, std::defer_lock);
    if (!lockWithin(lock, budget)) return false;
    agents.reserve(source.agents_.size());
    for (const auto& [path, seen] : source.agents_) agents.push_back(seen);
  }
  for (const SourceAgent& seen : agents) {
    auto lock = seen.agent->lockLater();
    if (!lockWithin(lock, budget)) return false;
    seen.agent->read(*seen.slot, [&](const AgentStatus& status, const Tally& tally) { visit(seen, status, tally); });
  }
  // Only now: a reader that got nothing has not had the last values of an agent that is dead.
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!lockWithin(lock, budget)) return true;
  if (reader == kNoReader || source.lastRead_.contains(reader)) source.lastRead_[reader] = begun;
  return true;
}

bool Collector::report(const Source& source, size_t most, SourceReport& out, WaitBudget& budget) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!lockWithin(lock, budget)) return false;
  if (!listProblems(source, most, out, budget)) return false;
  for (size_t place = 0; place < source.trees_.size(); ++place) {
    const DirectoryTree& tree = source.trees_[place];
    out.places.push_back({tree.state(), tree.reason(), tree.files().size(), source.hadRings_[place]});
    // Where any user of the machine may put rings that the source reads.
    if (!source.options_.owners && tree.writableByAll()) out.openDirectories.push_back(tree.directory());
  }
  out.stats = stats_;
  out.stats.sinceTickMs = sinceTickMs();
  return true;
}

CollectorStats Collector::stats() {
  const std::lock_guard lock(mutex_);
  CollectorStats stats = stats_;
  stats.sinceTickMs = sinceTickMs();
  return stats;
}

double Collector::sinceTickMs() const {
  const Clock::rep at = tickedAt_;
  return at == 0 ? 0 : toMs(Clock::now().time_since_epoch() - Clock::duration(at));
}

// mutex_ is held from here on down.

bool Collector::listProblems(const Source& source, size_t most, SourceReport& out, WaitBudget& budget) {
  const auto add = [&](const std::string& path, RingState state, const std::string& reason) {
    if (out.problemCount++ < most) out.problems.push_back({path, state, reason});
  };
  for (const DirectoryTree& tree : source.trees_) {
    for (const auto& [path, reason] : tree.problems()) add(path, RingState::kDenied, reason);
    for (const FoundFile& file : tree.files()) {
      if (file.problem != nullptr) {
        add(file.path, RingState::kCorrupt, std::string("not a regular file but ") + file.problem);
        continue;
      }
      const auto agent = agents_.find(file.path);
      if (agent != agents_.end()) {
        auto lock = agent->second->lockLater();
        if (!lockWithin(lock, budget)) return false;
        std::string reason;
        const RingState state = agent->second->trouble(reason);
        if (state != RingState::kReady) add(file.path, state, reason);
      }
      const auto candidate = candidates_.find(file.path);
      if (candidate == candidates_.end() || candidate->second.parked || candidate->second.reason.empty()) continue;
      add(file.path, candidate->second.state, candidate->second.reason);
    }
  }
  return true;
}

}  // namespace nixl_otel
