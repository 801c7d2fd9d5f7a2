// The flush thread of one life of an agent: every interval it pushes what is staged into the ring, in one burst.

#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "event_names.h"
#include "ring_writer.h"
#include "staging_queue.h"
#include "totals.h"

namespace nixl_otel::transfer_source {

class RingFlusher {
 public:
  // Starts the thread. The first flush comes one interval after the ring was made: a consumer that was draining the
  // ring's life before this one counts on it.
  RingFlusher(RingWriter& ring, StagingQueue& queue, std::chrono::milliseconds interval, AgentTotals& totals);
  // Ends the thread; then, if asked to, flushes once more on the caller's thread.
  void stop(bool finalFlush);

 private:
  using Clock = std::chrono::steady_clock;

  void run(std::stop_token stop);
  void flush();
  bool push(uint64_t timestampUs, uint32_t type, uint64_t value);
  void countTransfer(uint32_t type, bool accepted);

  RingWriter& ring_;
  StagingQueue& queue_;
  const std::chrono::milliseconds interval_;
  AgentTotals& totals_;
  const Clock::time_point created_ = Clock::now();
  std::vector<StagedEvent> batch_;
  std::array<RingEvent, kEventNames.size()> slots_;  // by type: name and category are filled in once
  int accepted_ = 0;  // of the current transfer's xfer_time, bytes, requests: how many came in, without a gap
  std::mutex mutex_;
  std::condition_variable_any timer_;
  std::jthread thread_;  // last: everything above is there before it starts and until it has ended
};

}  // namespace nixl_otel::transfer_source
