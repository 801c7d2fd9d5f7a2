// Order of drains within a tick. First each ring has a turn. Then rings with a backlog continue in turn until the time
// is up, and rings that need pauses after them. Rings that still have a backlog continue in the next tick.
// While all rings are idle, a tick only looks at their headers.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collector/agent.h"
#include "collector/collector_locks.h"
#include "collector/round_robin.h"

namespace nixl_otel {

// Thread safety: the collector's thread only.
class DrainSchedule {
 public:
  // `stopping` ends drains early.
  explicit DrainSchedule(const std::atomic<bool>& stopping) : stopping_(stopping) {}

  void drain(const AgentMap& agents, Clock::time_point end) REQUIRES(collectorThread);
  // Makes the next drain() drain every ring.
  //
  // Requires: called before a ring is released, and after one is attached.
  void endRest() { looks_.clear(); }

  // True if drain() drained every ring to its end.
  bool isComplete() const { return backlog_.empty() && pauseTurns_.isComplete(); }
  // Time from the begin of a tick to the next tick. `interval` is the drain interval, `longest` the limit while no ring
  // has events.
  Clock::duration pauseAfter(Clock::time_point tick, std::chrono::milliseconds interval,
                             std::chrono::milliseconds longest) const;
  // Forgets all agents.
  void clear();

 private:
  Agent::DrainReport drainOne(Agent& agent, PausePolicy pauses) REQUIRES(collectorThread);
  void settle(std::vector<std::shared_ptr<Agent>>& agents, PausePolicy pauses) REQUIRES(collectorThread);
  bool isAtRest(Clock::time_point now) REQUIRES(collectorThread);
  void beginRest(const AgentMap& agents) REQUIRES(collectorThread);
  void drainInTurn(std::set<std::string>& paths, RoundRobin& turns, Clock::time_point end,
                   const std::function<bool(const std::string&)>& drainAgain);

  const std::atomic<bool>& stopping_;
  ChunkBuffer buffer_;
  std::set<std::string> backlog_;  // paths of agents with more events than their turn took
  RoundRobin backlogTurns_;
  std::set<std::string> needsPause_;  // paths of agents whose rings need pauses in this tick
  RoundRobin pauseTurns_;
  bool nearlyFull_ = false;        // a ring was nearly full in this tick
  Clock::time_point lastMoved_{};  // last drain of any ring that took events
  std::vector<HeaderLook> looks_;  // at all rings, if all are idle
  Clock::time_point restUntil_{};
  Clock::time_point emptyAt_{};  // last time at which looks found all rings empty
};

}  // namespace nixl_otel
