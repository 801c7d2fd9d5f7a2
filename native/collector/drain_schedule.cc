#include "collector/drain_schedule.h"

#include <algorithm>
#include <thread>

namespace nixl_otel {
namespace {

using std::chrono::milliseconds;

// A new ring needs two pauses, and more if its header changes. After kMaxSettlingPauses it waits for the next tick.
constexpr std::chrono::microseconds kSettlingPause{500};
constexpr int kMaxSettlingPauses = 6;
// Events that one ring may deliver before the turn of the next ring.
constexpr uint64_t kTurn = 16 * DrainProtocol<int>::kChunkSlots;
constexpr milliseconds kNearlyFullInterval{1};
// Time without an event in any ring after which drains are a third as frequent.
constexpr milliseconds kQuiet{1000};
// Longest time without a drain while looks find all rings unchanged. What depends on time, such as the end of a
// replaced ring, may be late by as much.
constexpr milliseconds kLongestRest{500};

}  // namespace

void DrainSchedule::drain(const AgentMap& agents, Clock::time_point end) {
  if (isAtRest(Clock::now())) return;
  nearlyFull_ = false;
  std::vector<std::shared_ptr<Agent>> settling;
  for (const auto& [path, agent] : agents) {
    if (!backlog_.contains(path) && drainOne(*agent, PausePolicy::kNever).settling) settling.push_back(agent);
  }
  settle(settling, PausePolicy::kNever);

  // Backlogs come after the turns: a ring that fills faster than it is drained must not delay all others.
  const Clock::time_point now = Clock::now();
  const Clock::time_point half = now + std::max(end - now, Clock::duration{0}) / 2;
  drainInTurn(backlog_, backlogTurns_, needsPause_.empty() ? end : half,
              [&](const std::string& path) REQUIRES(collectorThread) {
                const auto agent = agents.find(path);
                return agent != agents.end() && drainOne(*agent->second, PausePolicy::kNever).more;
              });

  // Rings that restart, are at the end of a lap, or have positions that another process moves.
  std::vector<std::shared_ptr<Agent>> reattached;
  drainInTurn(needsPause_, pauseTurns_, end, [&](const std::string& path) REQUIRES(collectorThread) {
    const std::shared_ptr<Agent>& agent = agents.at(path);
    if (drainOne(*agent, PausePolicy::kForRecovery).settling) reattached.push_back(agent);
    return false;
  });
  const bool anyPause = !needsPause_.empty();
  needsPause_.clear();
  settle(reattached, PausePolicy::kForRecovery);
  if (!anyPause && backlog_.empty()) beginRest(agents);
}

// True if looks find that a drain would change nothing.
bool DrainSchedule::isAtRest(Clock::time_point now) {
  const bool isUnchanged =
      std::all_of(looks_.begin(), looks_.end(), [](const auto& look) { return look.isUnchanged(); });
  if (looks_.empty() || now >= restUntil_ || !isUnchanged) {
    looks_.clear();
    return false;
  }
  emptyAt_ = now;
  return true;
}

// Collects the looks at all rings, if no ring has had an event for a while.
void DrainSchedule::beginRest(const AgentMap& agents) {
  const Clock::time_point now = Clock::now();
  if (now - lastMoved_ < kQuiet) return;
  restUntil_ = now + kLongestRest;
  for (const auto& [path, agent] : agents) {
    if (!agent->addLooks(looks_)) return looks_.clear();
  }
}

// Drains these agents in turn until `end`, but at least one of them. drainAgain(path) returns false to remove the path.
void DrainSchedule::drainInTurn(std::set<std::string>& paths, RoundRobin& turns, Clock::time_point end,
                                const std::function<bool(const std::string&)>& drainAgain) {
  bool isFirst = true;
  turns.visit(paths, RoundRobin::kEndless, [&](const std::string& path) {
    if (stopping_ || (!isFirst && Clock::now() >= end)) return Turn::kStop;
    isFirst = false;
    return drainAgain(path) ? Turn::kKeep : Turn::kRemove;
  });
}

Agent::DrainReport DrainSchedule::drainOne(Agent& agent, PausePolicy pauses) {
  const Clock::time_point now = Clock::now();
  const Agent::DrainReport report = agent.drain(kTurn, buffer_, now, pauses, emptyAt_);
  nearlyFull_ |= report.nearlyFull;
  if (report.moved) lastMoved_ = now;
  if (report.more) backlog_.insert(agent.path());
  if (report.needsPause) needsPause_.insert(agent.path());
  return report;
}

// Drains the agents again until their rings have settled, with one common pause before each pass.
void DrainSchedule::settle(std::vector<std::shared_ptr<Agent>>& agents, PausePolicy pauses) {
  for (int i = 0; !agents.empty() && i < kMaxSettlingPauses && !stopping_; ++i) {
    std::this_thread::sleep_for(kSettlingPause);
    std::erase_if(agents,
                  [&](const auto& agent) REQUIRES(collectorThread) { return !drainOne(*agent, pauses).settling; });
  }
}

Clock::duration DrainSchedule::pauseAfter(Clock::time_point tick, milliseconds interval, milliseconds longest) const {
  // A nearly full ring may have no room for the events of another interval.
  if (nearlyFull_ || !backlog_.empty()) return std::min(kNearlyFullInterval, interval);
  // While no ring has events, wake-ups cause most of the collector's cost. A drain interval is at most a fifth of a
  // flush interval. Therefore three drain intervals end before an agent that becomes active flushes a second time.
  if (tick - lastMoved_ >= kQuiet) return std::max(interval, std::min(3 * interval, longest));
  return interval;
}

void DrainSchedule::clear() {
  endRest();
  backlog_.clear();
  needsPause_.clear();
  pauseTurns_.reset();
}

}  // namespace nixl_otel
