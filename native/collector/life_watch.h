// Lives of agents: searches for the processes that write rings, and checks that the known ones still do.

#pragma once

#include <chrono>

#include "collector/agent.h"
#include "collector/collector_locks.h"
#include "process/writer_search.h"

namespace nixl_otel {

// Thread safety: the collector's thread only.
class LifeWatch {
 public:
  // Searches for about a millisecond and checks lives, each if it is due. True if lives were checked; then agents may
  // have expired.
  //
  // Requires: collectorMutex is not held, because reading /proc takes time.
  bool watch(const AgentMap& agents, Clock::time_point now) REQUIRES(collectorThread) EXCLUDES(collectorMutex);
  // Notes that a ring was attached or rebuilt. The next watch() searches for its writers.
  void noteAttached(Clock::time_point now);
  // Ends the search.
  void clear();

 private:
  static constexpr std::chrono::milliseconds kFirstSearchPause{250};

  void search(const AgentMap& agents, Clock::time_point now) REQUIRES(collectorThread);

  WriterSearch search_;
  ProcessProbes probes_;
  Clock::time_point nextSearch_{};
  Clock::time_point nextWholeSearch_{};
  std::chrono::milliseconds searchPause_{0};
  bool searchAgain_ = false;  // a ring was attached since the last search began
  Clock::time_point lastCheck_{};
  Clock::time_point lastMapsCheck_{};
};

}  // namespace nixl_otel
