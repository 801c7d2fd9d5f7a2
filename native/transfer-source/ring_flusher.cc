#include "ring_flusher.h"

#include <algorithm>
#include <utility>

namespace nixl_otel::transfer_source {

RingFlusher::RingFlusher(RingWriter& ring, StagingQueue& queue, std::chrono::milliseconds interval, AgentTotals& totals,
                         std::stop_token roomWait)
    : ring_(ring), queue_(queue), interval_(interval), roomWait_(std::move(roomWait)), totals_(totals) {
  for (uint32_t type = 0; type < slots_.size(); type++) {
    slots_[type].type = type;
    slots_[type].category = kEventNames[type].category;
    slots_[type].setName(kEventNames[type].version1);
  }
  thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

void RingFlusher::run(std::stop_token stop) {
  Clock::time_point next = created_ + interval_;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      timer_.wait_until(lock, stop, next, [] { return false; });
    }
    if (stop.stop_requested()) return;
    flush();
    next = Clock::now() + interval_;
  }
}

void RingFlusher::stop(bool finalFlush) {
  thread_.request_stop();
  thread_.join();
  if (!finalFlush) return;
  // Also in a short incarnation, the first flush must not come before the end of a drain that ran at the start. A
  // second is longer than any drain; a longer wait would only delay the end.
  std::this_thread::sleep_until(created_ + std::min(interval_, std::chrono::milliseconds(1000)));
  flush();
}

void RingFlusher::flush() {
  const uint64_t dropped = queue_.takeAll(batch_);
  for (const StagedEvent& event : batch_) {
    // Tries each event, as NIXL does: if a consumer makes room during the burst, the ring may refuse the first events
    // of a transfer and accept the others.
    const bool accepted = push(event.timestampUs, event.type, event.value);
    countTransfer(event.type, accepted);
  }
  totals_.flushed += batch_.size();
  if (dropped > 0 && ring_.layout().version >= 4) {
    totals_.notices++;
    push(0, kEventsDropped, dropped);
  }
}

bool RingFlusher::push(uint64_t timestampUs, uint32_t type, uint64_t value) {
  RingEvent& event = slots_[type];
  event.timestampUs = timestampUs;
  event.value = value;
  while (!ring_.push(event)) {
    isOvertaken_ = ring_.state() == WriterState::kOvertaken;
    if (isOvertaken_ || !roomWait_.stop_possible() || roomWait_.stop_requested()) {
      totals_.refused++;
      return false;
    }
    std::this_thread::sleep_for(kRoomPoll);
  }
  totals_.written++;
  totals_.countEvent(type, value);
  return true;
}

// Counts a transfer if the ring accepts its xfer_time, bytes and requests one after another, by which a consumer
// recognises it. Ignores post_time, which older versions write separately.
void RingFlusher::countTransfer(uint32_t type, bool accepted) {
  const bool bytes = type == kTxBytes || type == kRxBytes;
  const bool requests = type == kTxRequests || type == kRxRequests;
  const int place = type == kXferTime ? 0 : bytes ? 1 : requests ? 2 : -1;
  if (place < 0) return;
  accepted_ = accepted && (place == 0 || accepted_ == place) ? place + 1 : 0;
  if (accepted_ == 3) (type == kTxRequests ? totals_.transfersTx : totals_.transfersRx)++;
}

}  // namespace nixl_otel::transfer_source
