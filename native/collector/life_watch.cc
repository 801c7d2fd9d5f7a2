#include "collector/life_watch.h"

#include <algorithm>
#include <set>
#include <utility>

namespace nixl_otel {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kCheckInterval{500};
constexpr milliseconds kMapsCheckInterval{5000};
// Time of one tick that the search in /proc may take.
constexpr milliseconds kSearchSlice{1};
constexpr milliseconds kLongestSearchPause{60'000};
// Longest time without a search for further writers of rings whose writer is known.
constexpr milliseconds kWholeSearchInterval{600'000};

}  // namespace

bool LifeWatch::watch(const AgentMap& agents, Clock::time_point now) {
  search(agents, now);
  if (now - lastCheck_ < kCheckInterval) return false;
  lastCheck_ = now;
  const bool withMaps = now - lastMapsCheck_ >= kMapsCheckInterval;
  if (withMaps) lastMapsCheck_ = now;
  probes_.beginPass();
  bool isRebuilt = false;
  for (const auto& [path, agent] : agents) {
    agent->checkLife(now, probes_, withMaps);
    isRebuilt |= agent->takeRebuilt();
  }
  if (isRebuilt) noteAttached(now);
  return true;
}

void LifeWatch::search(const AgentMap& agents, Clock::time_point now) {
  if (!search_.running() && now >= nextSearch_) {
    std::set<FileId> wanted;
    bool isDue = searchAgain_ || now >= nextWholeSearch_;
    for (const auto& [path, agent] : agents) {
      isDue |= agent->lacksWriter();
      wanted.insert(agent->file());
    }
    nextSearch_ = now + kFirstSearchPause;
    searchAgain_ = false;
    if (isDue && !wanted.empty()) search_.begin(std::move(wanted));
  }
  if (!search_.running() || !search_.step(Clock::now() + kSearchSlice)) return;
  for (const auto& [path, agent] : agents) {
    // First: an agent whose lock shows its life is not unknown once it counts as searched.
    agent->checkLife(now, probes_, false);
    agent->noteWriters(search_.wanted(), search_.found(), search_.sawAll());
  }
  nextWholeSearch_ = now + kWholeSearchInterval;
  searchPause_ = std::min(searchPause_ * 2, kLongestSearchPause);
  // The pause may be longer than a process runs. Therefore the next search begins at once if a ring was attached during
  // this one.
  nextSearch_ = searchAgain_ ? now : now + searchPause_;
}

void LifeWatch::noteAttached(Clock::time_point now) {
  nextSearch_ = now;
  searchAgain_ = true;
  searchPause_ = kFirstSearchPause;
}

void LifeWatch::clear() {
  search_ = WriterSearch();
  probes_ = ProcessProbes();
  nextSearch_ = nextWholeSearch_ = {};
}

}  // namespace nixl_otel
