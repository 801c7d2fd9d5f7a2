// One agent. Its thread makes transfers and stages their events, over all incarnations. Each incarnation has its own
// ring (in the same file), staging queue and flush thread.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "memory_mover.h"
#include "options.h"
#include "ring/ring_writer.h"
#include "staging_queue.h"
#include "totals.h"

namespace nixl_otel::transfer_source {

class RingFlusher;

class Agent {
 public:
  // `totals` is complete after join().
  //
  // Requires: `options` and `totals` outlive the agent.
  Agent(const Options& options, uint32_t index, std::stop_token stop, AgentTotals& totals);

  void start();
  // Waits until the ring exists. Returns "" or the problem.
  std::string waitReady();
  // Waits for the end of the agent. Returns "" or the problem that ended it early.
  std::string join();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kEmptyPoll{1};
  // The last part of a wait in which the thread does not sleep: the kernel may wake it later by this.
  static constexpr std::chrono::microseconds kWakeDelay{200};

  void run();
  void prepare();
  void createRing();
  void runIncarnation();
  void moveUntil(Clock::time_point end, StagingQueue& queue, const RingFlusher& flusher);
  void transfer(Clock::time_point end, StagingQueue& queue);
  bool isComplete(Clock::time_point due, Clock::time_point end);
  bool waitUntil(Clock::time_point due);
  bool waitUntilEmpty();
  bool chance(double percent);
  uint64_t pickSize();

  const Options& options_;
  const uint32_t index_;
  const std::stop_token stop_;
  AgentTotals& totals_;
  RingWriter ring_;
  std::unique_ptr<MemoryMover> mover_;
  std::mt19937_64 random_;
  uint64_t totalWeight_ = 0;
  uint64_t attempts_ = 0;
  uint32_t nextError_ = 0;
  Clock::time_point runEnd_ = Clock::time_point::max();
  Clock::time_point due_;  // of the next transfer
  Clock::time_point slowFrom_ = Clock::time_point::max();
  std::mutex mutex_;
  std::condition_variable_any timer_;
  std::promise<std::string> ready_;
  std::string failure_;  // the thread writes it, and join() reads it afterwards
  std::jthread thread_;
};

}  // namespace nixl_otel::transfer_source
