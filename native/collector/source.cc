#include "collector/source.h"

#include <algorithm>
#include <cstdlib>

namespace nixl_otel {
namespace {

std::string canonicalDirectory(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string canonical(resolved);
  std::free(resolved);
  return canonical;
}

}  // namespace

Source::Source(SourceOptions options, std::vector<std::shared_ptr<EventTap>> taps)
    : options_(std::move(options)), tallyPlan_(planFor(options_.tally)), taps_(std::move(taps)) {
  for (const auto& [directory, pattern] : options_.places) {
    trees_.emplace_back(canonicalDirectory(directory), pattern);
  }
  hadRings_.resize(trees_.size());
}

bool Source::refresh() {
  bool changed = false;
  for (DirectoryTree& tree : trees_) changed |= tree.refresh();
  return changed;
}

bool Source::covers(const std::string& path) const {
  std::string name;
  return std::any_of(trees_.begin(), trees_.end(), [&](const DirectoryTree& tree) { return tree.covers(path, name); });
}

std::vector<PlaceStatus> Source::places() const {
  std::vector<PlaceStatus> places;
  for (size_t i = 0; i < trees_.size(); ++i) {
    const auto space = spaces_.find(i);
    places.push_back({trees_[i].state(), trees_[i].reason(), trees_[i].files().size(), hadRings_[i],
                      space == spaces_.end() ? PlaceSpace{} : space->second});
  }
  return places;
}

void Source::link(const std::shared_ptr<Agent>& agent) {
  if (agents_.contains(agent->path())) return;
  for (size_t i = 0; i < trees_.size(); ++i) {
    std::string name;
    if (!trees_[i].covers(agent->path(), name)) continue;
    SourceAgent seen{agent, agent->acquireTally(tallyPlan_, options_.state), toUtf8(name),
                     toUtf8(trees_[i].directory())};
    WaitBudget forEver;
    const auto addTaps = [this](TallySlot& slot, AgentState*) REQUIRES(collectorMutex) {
      slot.taps.insert(slot.taps.end(), taps_.begin(), taps_.end());
    };
    agent->change(*seen.slot, addTaps, forEver);
    agents_.emplace(agent->path(), std::move(seen));
    hadRings_[i] = true;
    return;
  }
}

void Source::unlink(const std::string& path) {
  const auto seen = agents_.find(path);
  if (seen == agents_.end()) return;
  Agent& agent = *seen->second.agent;
  WaitBudget forEver;
  const auto removeTaps = [this](TallySlot& slot, AgentState*) REQUIRES(collectorMutex) {
    for (const auto& tap : taps_) std::erase(slot.taps, tap);
  };
  agent.change(*seen->second.slot, removeTaps, forEver);
  agent.releaseTally(seen->second.slot);
  agents_.erase(seen);
}

void Source::unlinkAll() {
  while (!agents_.empty()) unlink(agents_.begin()->first);
}

const SourceAgent* Source::find(uint64_t tally) const {
  for (const auto& [path, seen] : agents_) {
    if (seen.slot->tally.id() == tally) return &seen;
  }
  return nullptr;
}

void Source::noteRead(uint32_t reader, Clock::time_point time) {
  if (reader == kNoReader || lastRead_.contains(reader)) lastRead_[reader] = time;
}

Clock::time_point Source::readUntil() const {
  auto until = Clock::time_point::max();
  for (const auto& [reader, time] : lastRead_) {
    if (reader != kNoReader) until = std::min(until, time);
  }
  if (until != Clock::time_point::max()) return until;
  const auto unnumbered = lastRead_.find(kNoReader);
  return unnumbered == lastRead_.end() ? Clock::time_point{} : unnumbered->second;
}

}  // namespace nixl_otel
