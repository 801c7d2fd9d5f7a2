// The flush thread of one incarnation of an agent. After each interval it pushes the staged events into the ring in one
// burst.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "event_names.h"
#include "ring/ring_writer.h"
#include "staging_queue.h"
#include "totals.h"

namespace nixl_otel::transfer_source {

class RingFlusher {
 public:
  // Starts the thread. The first flush comes one interval after the creation of the ring: a consumer that still drains
  // the previous incarnation relies on this.
  //
  // `roomWait`: a flush waits while the ring is full, until a stop is requested there. Without a state it never waits.
  RingFlusher(RingWriter& ring, StagingQueue& queue, std::chrono::milliseconds interval, AgentTotals& totals,
              std::stop_token roomWait);
  // Ends the thread. With `finalFlush`, then flushes once more on the caller's thread.
  void stop(bool finalFlush);
  // True once the flusher found that another program writes the ring. It has written nothing since then.
  bool isOvertaken() const { return isOvertaken_; }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds kRoomPoll{1};

  void run(std::stop_token stop);
  void flush();
  bool push(uint64_t timestampUs, uint32_t type, uint64_t value);
  void countTransfer(uint32_t type, bool accepted);

  RingWriter& ring_;
  StagingQueue& queue_;
  const std::chrono::milliseconds interval_;
  const std::stop_token roomWait_;
  AgentTotals& totals_;
  const Clock::time_point created_ = Clock::now();
  std::vector<StagedEvent> batch_;
  std::array<RingEvent, kEventNames.size()> slots_;  // by type; name and category never change
  int accepted_ = 0;                                 // number of events accepted of xfer_time, bytes, requests
  std::atomic<bool> isOvertaken_{false};
  std::mutex mutex_;
  std::condition_variable_any timer_;
  std::jthread thread_;  // last: the members above outlive it
};

}  // namespace nixl_otel::transfer_source
