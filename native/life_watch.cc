#include "life_watch.h"

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

}  // namespace

bool LifeWatch::watch(const AgentMap& agents, Clock::time_point now) {
  search(agents, now);
  if (now - lastCheck_ < kCheckInterval) return false;
  lastCheck_ = now;
  const bool withMaps = now - lastMapsCheck_ >= kMapsCheckInterval;
  if (withMaps) lastMapsCheck_ = now;
  probes_.beginPass();
  for (const auto& [path, agent] : agents) agent->checkLife(now, probes_, withMaps);
  return true;
}

void LifeWatch::search(const AgentMap& agents, Clock::time_point now) {
  if (!search_.running() && now >= nextSearch_) {
    std::set<FileId> wanted;
    for (const auto& [path, agent] : agents) {
      if (agent->lacksWriter()) wanted.insert(agent->file());
    }
    nextSearch_ = now + kFirstSearchPause;
    searchAgain_ = false;
    if (!wanted.empty()) search_.begin(std::move(wanted));
  }
  if (!search_.running() || !search_.step(Clock::now() + kSearchSlice)) return;
  for (const auto& [path, agent] : agents) agent->noteWriters(search_.wanted(), search_.found());
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
  nextSearch_ = {};
}

}  // namespace nixl_otel
