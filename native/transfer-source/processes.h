// Runs the agents, in this process or spread over child processes.

#pragma once

#include <functional>

#include "options.h"
#include "totals.h"

namespace nixl_otel::transfer_source {

// One record per agent, in memory shared with later forks.
class TotalsBoard {
 public:
  explicit TotalsBoard(uint32_t agents);  // throws std::runtime_error
  AgentTotals& operator[](uint32_t index) { return totals_[index]; }

 private:
  AgentTotals* totals_;  // lives until the program ends
};

// Both print problems on stderr and return the exit code: 0 when every agent ended well. They call `onReady` once all
// rings exist. Requires: the process has no threads yet.
int runHere(const Options& options, TotalsBoard& board, const std::function<void()>& onReady);
int runChildren(const Options& options, TotalsBoard& board, const std::function<void()>& onReady);

}  // namespace nixl_otel::transfer_source
