// Runs the agents, in this process or in child processes.

#pragma once

#include <functional>

#include "options.h"
#include "totals.h"

namespace nixl_otel::transfer_source {

// Totals of each agent, in memory that is shared with processes forked later.
class TotalsBoard {
 public:
  explicit TotalsBoard(uint32_t agents);  // throws std::runtime_error
  AgentTotals& operator[](uint32_t index) { return totals_[index]; }

 private:
  AgentTotals* totals_;  // mapped until the program ends
};

// Run the agents. Both functions print problems on stderr, and return the exit code: 0 if every agent ended well. They
// call `onReady` when all rings exist.
//
// Requires: the process has no other threads yet.
int runHere(const Options& options, TotalsBoard& board, const std::function<void()>& onReady);
int runChildren(const Options& options, TotalsBoard& board, const std::function<void()>& onReady);

}  // namespace nixl_otel::transfer_source
