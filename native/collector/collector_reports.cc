// Reports of the collector: snapshots of agents, and problems of files and directories.

#include <algorithm>
#include <cstdint>
#include <set>

#include "collector/collector.h"

namespace nixl_otel {
namespace {

constexpr char kDeletedReason[] =
    "its agent still writes it, and only this process can read it; start the agent again before this process ends";

}  // namespace

bool Collector::snapshotPart(Source& source, SnapshotPlace& place, size_t most, const Visit& visit,
                             WaitBudget& budget) {
  std::vector<SourceAgent> agents;
  {
    FairLock lock(collectorMutex, std::defer_lock);
    if (!lock.lockWithin(budget)) return false;
    agents.reserve(std::min(most, source.agents().size()));
    auto next = source.agents().upper_bound(place.last);
    for (; next != source.agents().end() && agents.size() < most; ++next) agents.push_back(next->second);
    place.isComplete = next == source.agents().end();
  }
  for (const SourceAgent& seen : agents) {
    const auto visitSeen = [&](const AgentStatus& status, const Tally& tally) { visit(seen, status, tally); };
    if (!seen.agent->read(*seen.slot, budget, visitSeen)) return false;
  }
  if (!agents.empty()) place.last = agents.back().agent->path();
  return true;
}

void Collector::noteRead(Source& source, uint32_t reader, const SnapshotPlace& place, WaitBudget& budget) {
  FairLock lock(collectorMutex, std::defer_lock);
  if (lock.lockWithin(budget)) source.noteRead(reader, place.begin);
}

bool Collector::report(const Source& source, size_t most, SourceReport& out, WaitBudget& budget) {
  FairLock lock(collectorMutex, std::defer_lock);
  if (!lock.lockWithin(budget)) return false;
  if (!listProblems(source, most, out, budget) || !listStateProblems(source, most, out, budget)) return false;
  out.places = source.places();
  for (const DirectoryTree& tree : source.trees()) {
    if (!source.options().owners && tree.writableByAll()) out.openDirectories.push_back(toUtf8(tree.directory()));
  }
  out.stats = stats_;
  return true;
}

CollectorStats Collector::stats() {
  const FairLock lock(collectorMutex);
  return stats_;
}

double Collector::sinceTickMs() const {
  const Clock::rep at = tickedAt_;
  return at == 0 ? 0 : toMs(Clock::now().time_since_epoch() - Clock::duration(at));
}

bool Collector::listProblems(const Source& source, size_t most, SourceReport& out, WaitBudget& budget) {
  const auto add = [&](const std::string& path, RingState state, const std::string& reason) {
    if (out.problemCount++ < most) out.problems.push_back({path, state, reason});
  };
  // First: if there are more than `most` problems, these are listed.
  for (const auto& [path, seen] : source.agents()) {
    if (seen.agent->writesDeleted()) add(path, RingState::kDeleted, kDeletedReason);
  }
  const bool mayAlias = source.trees().size() > 1;
  std::set<FileId> files;  // a file may have several paths, by directories that are links to each other
  const auto addOnce = [&](const std::string& path, RingState state, const std::string& reason) {
    const auto file = mayAlias ? fileAt(path) : std::nullopt;
    if (!file || files.insert(*file).second) add(path, state, reason);
  };
  for (const DirectoryTree& tree : source.trees()) {
    for (const auto& [path, reason] : tree.problems()) add(path, RingState::kDenied, reason);
    for (const FoundFile& file : tree.files()) {
      if (file.problem != nullptr) {
        addOnce(file.path, RingState::kCorrupt, std::string("not a regular file but ") + file.problem);
        continue;
      }
      const auto agent = agents_.find(file.path);
      if (agent != agents_.end()) {
        RingState state = RingState::kReady;
        std::string reason;
        if (!agent->second->problem(state, reason, budget)) return false;
        if (state != RingState::kReady) addOnce(file.path, state, reason);
      }
      const Candidate* candidate = candidates_.find(file.path);
      if (candidate == nullptr || candidate->parked || candidate->reason.empty()) continue;
      addOnce(file.path, candidate->state, candidate->reason);
    }
  }
  return true;
}

bool Collector::listStateProblems(const Source& source, size_t most, SourceReport& out, WaitBudget& budget) {
  if (!source.options().state) return true;
  for (const auto& [path, seen] : source.agents()) {
    std::string reason = "another source of this process drains it without a state file, or with other options";
    std::string loss;
    if (seen.slot->isKept && !seen.agent->stateProblem(reason, loss, budget)) return false;
    if (!reason.empty() && out.stateProblems.size() < most) out.stateProblems.push_back({path, reason});
    if (!loss.empty() && out.stateLosses.size() < most) out.stateLosses.push_back({path, loss});
  }
  return true;
}

}  // namespace nixl_otel
